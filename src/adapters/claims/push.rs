//! What came of pushing one ref, by what `git push --porcelain` said.
//!
//! Must not know: claims; what is done about it.

/// What git said of it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Push {
    /// The remote took it.
    Taken,
    /// It did not come to pushing: nothing can have been changed. In words.
    NotSent(String),
    /// It, or git here, said no: nothing was changed. In words.
    Refused(String),
    /// The answer is missing. In words.
    Unanswered(String),
}

/// What git says where a connection was not made, or ended before anything was asked of the other side.
const BEFORE_ANYTHING: [&str; 9] = [
    "Could not read from remote repository.",
    "hung up upon initial contact",
    "does not appear to be a git repository",
    "unable to connect to",
    "unable to look up",
    "fatal: unable to access '",
    "Authentication failed",
    "could not read Username",
    "could not read Password",
];

/// What a remote says that was about to take it, or another one, and tripped over its own locks.
const IN_PASSING: [&str; 6] = [
    "failed to update ref",
    "cannot lock ref",
    "failed to lock",
    "Unable to create",
    "incorrect old value provided",
    "reference already exists",
];

/// Reads what a push of this ref said.
pub(super) fn read(name: &str, success: bool, out: &str, err: &str) -> Push {
    let status = out.lines().find_map(|line| {
        let mut parts = line.split('\t');
        let (flag, refs, summary) = (parts.next()?, parts.next()?, parts.next()?);
        refs.ends_with(&format!(":{name}")).then_some((flag, summary))
    });
    match status {
        Some((" " | "*" | "+" | "=", _)) if success => Push::Taken,
        Some(("!", summary)) if !summary.starts_with("[remote failure]") => {
            Push::Refused(words(&[summary, &of_server(err)].join("\n")))
        }
        None if BEFORE_ANYTHING.iter().any(|text| err.contains(text)) => Push::NotSent(words(err)),
        _ => Push::Unanswered(words(err)),
    }
}

/// Whether a refusal in these words may be none a moment later.
pub(super) fn passes(words: &str) -> bool {
    IN_PASSING.iter().any(|text| words.contains(text))
}

/// What the other side's hooks and programs wrote.
fn of_server(err: &str) -> String {
    let lines = err.lines().filter_map(|line| line.strip_prefix("remote:"));
    lines.map(str::trim).filter(|line| !line.is_empty()).collect::<Vec<_>>().join("\n")
}

/// The most lines and characters of git's words that are told on.
const MOST: (usize, usize) = (6, 600);

/// Git's words on one line, cut to what a sentence can hold. Whatever a server sends, no control character is among them.
pub(super) fn words(text: &str) -> String {
    let lines = text.lines().map(str::trim).filter(|line| !line.is_empty()).take(MOST.0);
    let line: String = lines.collect::<Vec<_>>().join("; ");
    let line: String = line.chars().map(|c| if c.is_control() { '?' } else { c }).take(MOST.1).collect();
    if line.is_empty() { "git says nothing".into() } else { line }
}

#[cfg(test)]
mod tests {
    use super::*;

    const NAME: &str = "refs/yoi/claims/t";

    #[test]
    fn what_pushes_say() {
        let line = |flag: &str, summary: &str| format!("To /r.git\n{flag}\tabc:{NAME}\t{summary}\nDone\n");
        let refused = |words: &str| Push::Refused(words.into());
        let table = [
            (true, line("*", "[new reference]"), "", Push::Taken),
            (true, line(" ", "abc..def"), "", Push::Taken),
            (true, line("+", "abc...def (forced update)"), "", Push::Taken),
            (true, line("=", "[up to date]"), "", Push::Taken),
            (false, line("!", "[rejected] (stale info)"), "error: failed", refused("[rejected] (stale info)")),
            (
                false,
                line("!", "[remote rejected] (pre-receive hook declined)"),
                "remote: no claims\u{1b}[31m on Friday        \nremote: \nerror: failed to push some refs",
                refused("[remote rejected] (pre-receive hook declined); no claims?[31m on Friday"),
            ),
            (
                false,
                line("!", "[remote failure] (remote failed to report status)"),
                "error: failed",
                Push::Unanswered("error: failed".into()),
            ),
            (
                false,
                String::new(),
                "ssh: no route\nfatal: Could not read from remote repository.",
                Push::NotSent("ssh: no route; fatal: Could not read from remote repository.".into()),
            ),
            (
                false,
                String::new(),
                "fatal: the remote end hung up unexpectedly",
                Push::Unanswered("fatal: the remote end hung up unexpectedly".into()),
            ),
            (false, String::new(), "", Push::Unanswered("git says nothing".into())),
            // Of another ref, or in no form that git has.
            (
                true,
                "To x\n*\tabc:refs/heads/main\t[new branch]\n".into(),
                "",
                Push::Unanswered("git says nothing".into()),
            ),
            (false, line("*", "[new reference]"), "error: odd", Push::Unanswered("error: odd".into())),
        ];
        for (success, out, err, expected) in table {
            assert_eq!(read(NAME, success, &out, err), expected, "{out}{err}");
        }
        assert!(passes("[remote rejected] (failed to update ref)") && !passes("[remote rejected] (no)"));
    }
}
