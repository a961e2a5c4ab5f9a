//! The pitfalls of people's frontmatter, one name each: what is read, what is said, and what an edit leaves.

use super::document::{Contents, Document, Field};
use super::keys::KeyMap;
use super::patch::patch;
use super::read::problems;
use crate::domain::edit::Change;

/// A file, what yoi says of it, and the file after `state` was set to `queued` and the label `orphan` added.
struct Pitfall {
    name: &'static str,
    file: &'static str,
    says: &'static str,
    edited: Option<&'static str>,
}

/// `key=text` for each key of interest that the file has, then `body=`, then each problem; or why it is no ticket.
fn says(file: &str) -> String {
    let document = match Document::read(file.as_bytes()) {
        Contents::Document(document) => document,
        Contents::NoFrontmatter(_) => return "no frontmatter".into(),
        Contents::Unsupported(what) => return format!("unsupported: {what}"),
        Contents::Invalid(error) => return format!("{}:{} {}", error.line, error.column, error.message),
    };
    let mut said = Vec::new();
    for key in ["id", "title", "state", "number", "created_at", "x", "d"] {
        match document.field(key) {
            Field::Missing => {}
            Field::Null => said.push(format!("{key}=null")),
            Field::Text(text) => said.push(format!("{key}={:?}", text.text)),
            Field::Other(what) => said.push(format!("{key} is {}", what.text)),
        }
    }
    for key in ["labels", "depends_on"] {
        let items: Vec<String> = document.list(key).0.into_iter().map(|item| item.text).collect();
        if !items.is_empty() {
            said.push(format!("{key}={items:?}"));
        }
    }
    said.push(format!("body={:?}", String::from_utf8_lossy(document.body)));
    let about_values = |message: &String| !message.starts_with("there is no") && !message.contains("known state");
    said.extend(problems(file.as_bytes(), &KeyMap::default()).into_iter().map(|p| p.message).filter(about_values));
    said.join(" ")
}

fn edited(file: &str) -> Result<String, String> {
    let changes = [Change::text("state", "queued"), Change::Add("labels".into(), "orphan".into())];
    let after = patch(file.as_bytes(), &changes).map_err(|error| error.to_string())?;
    Ok(String::from_utf8(after).unwrap())
}

fn check(pitfalls: &[Pitfall]) {
    for pitfall in pitfalls {
        assert_eq!(says(pitfall.file), pitfall.says, "{}", pitfall.name);
        match pitfall.edited {
            Some(after) => assert_eq!(edited(pitfall.file).as_deref(), Ok(after), "{}", pitfall.name),
            None => assert!(edited(pitfall.file).is_err(), "{}: an edit has to be refused", pitfall.name),
        }
    }
}

#[test]
fn where_the_block_ends() {
    check(&[
        Pitfall {
            name: "the first closing line wins",
            file: "---\nstate: a\n---\nx\n---\nstate: b\n---\n",
            says: r#"state="a" body="x\n---\nstate: b\n---\n""#,
            edited: Some("---\nstate: queued\nlabels: [orphan]\n---\nx\n---\nstate: b\n---\n"),
        },
        Pitfall {
            name: "dots close, and stay",
            file: "---\nstate: a\n...\n---\n",
            says: r#"state="a" body="---\n""#,
            edited: Some("---\nstate: queued\nlabels: [orphan]\n...\n---\n"),
        },
        Pitfall {
            name: "a closing line may be the last byte",
            file: "---\nstate: a\n---",
            says: r#"state="a" body="""#,
            edited: Some("---\nstate: queued\nlabels: [orphan]\n---"),
        },
        Pitfall {
            name: "unterminated is its own error",
            file: "---\nstate: a\n\nText\n",
            says: "1:1 the frontmatter has no closing line: write `---` alone on the line after its last key",
            edited: None,
        },
        Pitfall {
            name: "dashes inside the block do not close it",
            file: "---\nd: |\n  a\n  ---\nx: a --- b\n---\n",
            says: r#"x="a --- b" d="a\n---\n" body="""#,
            edited: Some("---\nd: |\n  a\n  ---\nx: a --- b\nstate: queued\nlabels: [orphan]\n---\n"),
        },
    ]);
}

#[test]
fn which_state_is_the_state() {
    check(&[
        Pitfall {
            name: "in a nested map",
            file: "---\nx:\n  state: a\nstate: b\n---\n",
            says: r#"state="b" x is a mapping body="""#,
            edited: Some("---\nx:\n  state: a\nstate: queued\nlabels: [orphan]\n---\n"),
        },
        Pitfall {
            name: "in a flow map",
            file: "---\nx: {state: a, labels: [b]}\n---\n",
            says: r#"x is a mapping body="""#,
            edited: Some("---\nx: {state: a, labels: [b]}\nstate: queued\nlabels: [orphan]\n---\n"),
        },
        Pitfall {
            name: "in a block scalar",
            file: "---\nd: >\n  state: a\n  labels: b\nstate: c\n---\n",
            says: r#"state="c" d="state: a labels: b\n" body="""#,
            edited: Some("---\nd: >\n  state: a\n  labels: b\nstate: queued\nlabels: [orphan]\n---\n"),
        },
        Pitfall {
            name: "in the body",
            file: "---\ntitle: x\n---\nstate: a\nlabels: [b]\n",
            says: r#"title="x" body="state: a\nlabels: [b]\n""#,
            edited: Some("---\ntitle: x\nstate: queued\nlabels: [orphan]\n---\nstate: a\nlabels: [b]\n"),
        },
        Pitfall {
            name: "in a comment, or as part of a longer key",
            file: "---\n# state: a\nstatement: b\nmy-state: c\n---\n",
            says: r#"body="""#,
            edited: Some("---\n# state: a\nstatement: b\nmy-state: c\nstate: queued\nlabels: [orphan]\n---\n"),
        },
    ]);
}

#[test]
fn source_text_is_kept() {
    check(&[
        Pitfall {
            name: "ids, numbers, dates and words",
            file: "---\nid: 0010\ntitle: 21E08\nstate: NO\nnumber: 1.10\ncreated_at: 2016-12-15T10:00:00Z\nx: 10:00\nd: 2016-12-15\n---\n",
            says: r#"id="0010" title="21E08" state="NO" number="1.10" created_at="2016-12-15T10:00:00Z" x="10:00" d="2016-12-15" body="""#,
            edited: Some(
                "---\nid: 0010\ntitle: 21E08\nstate: queued\nnumber: 1.10\ncreated_at: 2016-12-15T10:00:00Z\nx: 10:00\nd: 2016-12-15\nlabels: [orphan]\n---\n",
            ),
        },
        Pitfall {
            name: "items of lists",
            file: "---\ndepends_on: [0010, 21E08, 1.10]\nlabels:\n  - 2024\n  - NO\n---\n",
            says: r#"labels=["2024", "NO"] depends_on=["0010", "21E08", "1.10"] body="""#,
            edited: Some(
                "---\ndepends_on: [0010, 21E08, 1.10]\nlabels:\n  - 2024\n  - NO\n  - orphan\nstate: queued\n---\n",
            ),
        },
        Pitfall {
            name: "null, tilde and nothing keep their form",
            file: "---\ntitle: null\nx: ~\nd:\nnumber: \"null\"\n---\n",
            says: r#"title=null number="null" x=null d=null body="""#,
            edited: Some("---\ntitle: null\nx: ~\nd:\nnumber: \"null\"\nstate: queued\nlabels: [orphan]\n---\n"),
        },
        Pitfall {
            name: "dollars, ampersands and backslashes are text",
            file: "---\ntitle: costs $1 & \\1 $&\nstate: '$0'\n---\n",
            says: r#"title="costs $1 & \\1 $&" state="$0" body="""#,
            edited: Some("---\ntitle: costs $1 & \\1 $&\nstate: 'queued'\nlabels: [orphan]\n---\n"),
        },
        Pitfall {
            name: "invisible and odd characters inside a value",
            file: "---\ntitle: 10\u{a0}km \u{1f30e}\nx: a\u{2028}b\n---\n",
            says: "title=\"10\\u{a0}km \u{1f30e}\" x=\"a\\u{2028}b\" body=\"\"",
            edited: Some("---\ntitle: 10\u{a0}km \u{1f30e}\nx: a\u{2028}b\nstate: queued\nlabels: [orphan]\n---\n"),
        },
    ]);
}

#[test]
fn values_that_are_not_what_they_look_like() {
    check(&[
        Pitfall {
            name: "a hash cuts a value silently",
            file: "---\nx: PR #526 coverage\nstate: a#b\n---\n",
            says: r#"state="a#b" x="PR" body="" ` #` starts a comment, so `#526 coverage` is not part of `x`; put quotes around the value if it should be"#,
            edited: Some("---\nx: PR #526 coverage\nstate: queued\nlabels: [orphan]\n---\n"),
        },
        Pitfall {
            name: "values of several lines belong to their key",
            file: "---\nstate: one\n  two\nlabels:\n- a\n\n- b\nd: >-\n  x\n\n  y\n---\n",
            says: r#"state="one two" d="x\ny" labels=["a", "b"] body="""#,
            edited: Some("---\nstate: queued\nlabels:\n- a\n\n- b\n- orphan\nd: >-\n  x\n\n  y\n---\n"),
        },
        Pitfall {
            name: "one string where a list is usual",
            file: "---\nlabels: bug\ndepends_on: a-1\n---\n",
            says: r#"labels=["bug"] depends_on=["a-1"] body="""#,
            edited: Some("---\nlabels: [bug, orphan]\ndepends_on: a-1\nstate: queued\n---\n"),
        },
        Pitfall {
            name: "a string with commas where a list is usual",
            file: "---\nlabels: bug, two words ,ui\ndepends_on: \"a-1, b-2\"\n---\n",
            says: r#"labels=["bug", "two words", "ui"] depends_on=["a-1", "b-2"] body="""#,
            edited: Some("---\nlabels: [bug, two words, ui, orphan]\ndepends_on: \"a-1, b-2\"\nstate: queued\n---\n"),
        },
        Pitfall {
            name: "a new key into nothing but comments",
            file: "---\n# nothing yet\n---\n",
            says: r#"body="""#,
            edited: Some("---\n# nothing yet\nstate: queued\nlabels: [orphan]\n---\n"),
        },
    ]);
}

#[test]
fn what_is_broken_is_named_and_left_alone() {
    let broken = |name, file, says| Pitfall { name, file, says, edited: None };
    check(&[
        broken(
            "conflict markers",
            "---\ntitle: x\n<<<<<<< HEAD\nstate: a\n=======\nstate: b\n>>>>>>> theirs\n---\n",
            "3:1 merge conflict marker (`<<<<<<< HEAD`): resolve the conflict in this file",
        ),
        broken("tabs", "---\nx:\n\t- a\n---\n", "3:1 a tab as indentation: YAML wants spaces here"),
        broken(
            "non-breaking spaces",
            "---\nx:\n\u{a0}\u{a0}- a\n\u{a0}\u{a0}- b\n---\n",
            "3:1 an invisible character (U+00A0) as indentation: replace it by a space",
        ),
        broken(
            "duplicate keys",
            "---\nstate: a\nx: 1\nstate: b\n---\n",
            "4:1 the key `state` stands twice, on lines 2 and 4: remove one",
        ),
        broken(
            "no mapping",
            "---\n\nJust prose\n\n---\n",
            "3:1 the frontmatter is text, not a mapping: write `key: value` lines",
        ),
        broken(
            "alias bombs",
            "---\na: &a [x,x,x,x,x,x,x,x,x,x]\nb: &b [*a,*a,*a,*a,*a,*a,*a,*a,*a,*a]\nc: &c [*b,*b,*b,*b,*b,*b,*b,*b,*b,*b]\nd: [*c,*c,*c,*c,*c,*c,*c,*c,*c,*c]\n---\n",
            "5:32 aliases (`*name`) would make more than 10000 values of this frontmatter; it is not read",
        ),
        broken(
            "TOML",
            "+++\nstate = 1\n+++\n",
            "unsupported: TOML frontmatter (`+++`); yoi reads YAML between `---` lines",
        ),
        broken("no frontmatter", "# Title\nstate: a\n", "no frontmatter"),
    ]);
}
