//! The configuration reference as Markdown, made from the table of keys; `docs/configuration.md` is compared with it.
//!
//! Must not know: any file.

use std::fmt::Write;

use super::keys::{KEYS, Key, LATER_KEYS, LATER_SECTIONS, ROLE_KEYS, sections};

const INTRODUCTION: &str = "\
# Configuration

<!-- Generated from the table of keys in src/config/keys.rs; `REGENERATE=1 cargo test generated` writes it anew. -->

`.yoi/config.toml`, in TOML. Every key is optional. `yoi config` prints what holds and where each value came from.
An unknown key, a value that cannot be read, and keys that contradict one another or could never have an effect are
errors, each with its line and column; all of them are reported at once.

Durations are one whole number and one unit: `500ms`, `30s`, `90m`, `24h`, `7d`. A number without a unit is an error.

What a configuration runs takes effect only once this user trusts it: `yoi trust`. What `yoi init` wrote is trusted.
";

const ROLES_PAGE: &str = "
## `[roles.NAME]`

A section for each role, `[roles.coder]` say, with a name of one word. Any other role may claim tickets too; it has no program
and no bound.

";

fn entry(key: &Key) -> String {
    let quote = if key.default.contains('`') { "" } else { "`" };
    let (path, Key { takes, default, about, .. }) = (key.path(), key);
    format!("### `{path}`\n\nTakes {takes}. Default: {quote}{default}{quote}.\n\n{about}\n\n")
}

/// The whole reference.
pub fn markdown() -> String {
    let mut page = INTRODUCTION.to_owned();
    for section in sections() {
        let _ = write!(page, "\n## `[{section}]`\n\n");
        for key in KEYS.iter().filter(|key| key.section == section) {
            page.push_str(&entry(key));
        }
        page.truncate(page.trim_end().len());
        page.push('\n');
    }
    page.push_str(ROLES_PAGE);
    for key in ROLE_KEYS {
        page.push_str(&entry(key));
    }
    page.truncate(page.trim_end().len());
    page.push('\n');
    let keys = LATER_KEYS.iter().map(|(section, name)| format!("`{section}.{name}`"));
    let later: Vec<_> = LATER_SECTIONS.iter().map(|name| format!("`[{name}]`")).chain(keys).collect();
    let _ =
        write!(page, "\n## Not yet\n\nRefused by this version, because it would do nothing: {}.\n", later.join(", "));
    page
}
