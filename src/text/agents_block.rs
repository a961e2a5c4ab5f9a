//! The block of an agent's guide (AGENTS.md, CLAUDE.md) that tells it how to work with yoi, and where in such a file it
//! goes. Everything else of the file stays, byte for byte.
//!
//! Must not know: files.

/// The line that begins the block.
pub const BEGIN: &str = "<!-- yoi:begin -->";
/// The line that ends it.
pub const END: &str = "<!-- yoi:end -->";

/// What the block says.
const BLOCK: &str = "\
## Working with yoi

Tickets lie in the ticket folder, and `yoi` says who works on what. A worker's loop:

- `yoi next --claim --json` takes a ticket (`ticket.id`, `claim.worker`, `claim.branch`); then `export YOI_WORKER=` that
  `claim.worker`.
- `yoi show ID`, then triage. Implement it if it has one clear outcome, criteria (or is a small obvious fix), a known owner
  and target branch, and a validation that fits one pull request. Decompose it if it has several outcomes, is vague, goes
  across repositories, is shaped like an epic, or is too risky to review as one.
- Work on the claim's branch, in a worktree of its own: `git worktree add -b BRANCH .yoi/worktrees/ID` (a branch that is
  there already: without `-b`). `yoi start ID` is claim and worktree in one, for a ticket that you were told to take.
- `yoi heartbeat ID` at least every hour. A claim that is not renewed is another worker's after its time.
- End with one of these, then take the next (`--help` says what each demands):
  `yoi release ID --outcome pr-opened --pr URL`, `yoi close ID`, `yoi block ID`, `yoi decompose ID`,
  `yoi release ID --outcome abandoned --reason TEXT`.

Rules:

- Tests first where practical. The pull request goes to the default branch. Auto-merge only where branch protection and
  required checks are real.
- One writer per repository and concern.
- Never edit `state`, labels, claims or what lies in `.yoi/` by hand: the commands do it.
- Exit codes: 0 done, 1 failed (look, then try again), 2 usage, 3 refused by a rule or idle, 4 the daemon is needed.
- Refused because somebody else holds the ticket: stop working on it, take the next. Refused because something is
  missing: it is named; give it, never make it up. `yoi why ID` says where a ticket stands, and why.
";

/// Why a text cannot take the block.
#[derive(Debug, PartialEq, Eq, thiserror::Error)]
pub enum BrokenMarkers {
    /// One of the two is missing, or they stand the wrong way round.
    #[error("line {line}: `{marker}` without its other half")]
    Alone {
        /// Which.
        marker: &'static str,
        /// Where, from 1.
        line: usize,
    },
    /// The block is there twice.
    #[error("line {second}: a second block begins; the first is on line {first}")]
    Twice {
        /// Where the first begins, from 1.
        first: usize,
        /// Where the second begins.
        second: usize,
    },
}

/// The text with the block in it: in the place of the one that is there, else at the end.
pub fn with_block(text: &[u8]) -> Result<Vec<u8>, BrokenMarkers> {
    let newline = if text.windows(2).any(|pair| pair == b"\r\n") { "\r\n" } else { "\n" };
    let block = format!("{BEGIN}\n{BLOCK}{END}").replace('\n', newline);
    let mut out = text.to_vec();
    if let Some((from, to)) = there(text)? {
        out.splice(from..to, block.into_bytes());
        return Ok(out);
    }
    // The separating empty line belongs to the block's first writing only; a last line without an end gets one.
    let is_empty = text.is_empty() || text == b"\xEF\xBB\xBF";
    if !is_empty {
        out.extend(newline.repeat(if text.ends_with(b"\n") { 1 } else { 2 }).into_bytes());
    }
    out.extend(block.into_bytes());
    out.extend(newline.bytes());
    Ok(out)
}

/// From where to where the block goes, its markers included.
fn there(text: &[u8]) -> Result<Option<(usize, usize)>, BrokenMarkers> {
    let mut begun: Option<(usize, usize)> = None;
    let mut found: Option<(usize, (usize, usize))> = None;
    let mut at = 0;
    for (index, whole) in text.split_inclusive(|byte| *byte == b'\n').enumerate() {
        let line = index + 1;
        let start = if index == 0 && whole.starts_with(b"\xEF\xBB\xBF") { 3 } else { 0 };
        let words = whole[start..].trim_ascii_end();
        if words == BEGIN.as_bytes() {
            if let Some((first, _)) = begun {
                return Err(BrokenMarkers::Alone { marker: BEGIN, line: first });
            }
            if let Some((first, _)) = found {
                return Err(BrokenMarkers::Twice { first, second: line });
            }
            begun = Some((line, at + start));
        } else if words == END.as_bytes() {
            let (first, from) = begun.take().ok_or(BrokenMarkers::Alone { marker: END, line })?;
            found = Some((first, (from, at + start + words.len())));
        }
        at += whole.len();
    }
    match begun {
        Some((line, _)) => Err(BrokenMarkers::Alone { marker: BEGIN, line }),
        None => Ok(found.map(|(_, place)| place)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What becomes of a text; `BLOCK` stands for the block.
    fn check(text: &str, expected: Result<&str, &str>) {
        let newline = if text.contains("\r\n") { "\r\n" } else { "\n" };
        let block = format!("{BEGIN}\n{BLOCK}{END}").replace('\n', newline);
        let given = text.replace("BEGIN", BEGIN).replace("END", END);
        let got = with_block(given.as_bytes());
        let shown = got.as_ref().map(|bytes| String::from_utf8(bytes.clone()).unwrap().replace(&block, "BLOCK"));
        let wanted = expected.map(str::to_owned).map_err(str::to_owned);
        assert_eq!(shown.map_err(ToString::to_string), wanted, "{text:?}");
        if let Ok(once) = got {
            assert_eq!(with_block(&once).unwrap(), once, "a second time changes nothing: {text:?}");
        }
    }

    #[test]
    fn only_the_block_is_touched() {
        check("", Ok("BLOCK\n"));
        check("\u{feff}", Ok("\u{feff}BLOCK\n"));
        check("# Mine\n", Ok("# Mine\n\nBLOCK\n"));
        check("# Mine", Ok("# Mine\n\nBLOCK\n"));
        check("# Mine\r\nx\r\n", Ok("# Mine\r\nx\r\n\r\nBLOCK\r\n"));
        check("a\nBEGIN\nold\nEND\nb", Ok("a\nBLOCK\nb"));
        check("a\r\nBEGIN\r\nold\r\nEND\r\nb", Ok("a\r\nBLOCK\r\nb"));
        check("BEGIN\nEND", Ok("BLOCK"));
        check("\u{feff}BEGIN\nEND\n", Ok("\u{feff}BLOCK\n"));
        check("in a line: BEGIN and END\n", Ok(&format!("in a line: {BEGIN} and {END}\n\nBLOCK\n")));
        let half = |marker, line| format!("line {line}: `{marker}` without its other half");
        check("a\nBEGIN\nb\n", Err(&half(BEGIN, 2)));
        check("END\nBEGIN\n", Err(&half(END, 1)));
        check("BEGIN\nBEGIN\nEND\n", Err(&half(BEGIN, 1)));
        check("BEGIN\nEND\nEND\n", Err(&half(END, 3)));
        check("BEGIN\nEND\nx\nBEGIN\nEND\n", Err("line 4: a second block begins; the first is on line 1"));
    }

    #[test]
    fn bytes_that_are_no_text_stay() {
        let mut expected = b"\xff\xfe\n\n".to_vec();
        expected.extend(with_block(b"").unwrap());
        assert_eq!(with_block(b"\xff\xfe\n").unwrap(), expected);
    }
}
