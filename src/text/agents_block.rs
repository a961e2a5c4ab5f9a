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
- Work on the claim's branch, in a worktree of its own: `yoi start ID` makes it, `.yoi/worktrees/ID`. It claims the ticket
  too, where you have not: for a ticket that you were told to take.
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
    let newline = newline_of(text);
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

/// As the first line ends: that one stays, so that a second time gives the same.
fn newline_of(text: &[u8]) -> &'static str {
    let first = text.split_inclusive(|byte| *byte == b'\n').next().unwrap_or_default();
    if first.ends_with(b"\r\n") { "\r\n" } else { "\n" }
}

/// From where to where the block goes, its markers included. In a code block a marker is an example.
fn there(text: &[u8]) -> Result<Option<(usize, usize)>, BrokenMarkers> {
    let mut begun: Option<(usize, usize)> = None;
    let mut found: Option<(usize, (usize, usize))> = None;
    let mut at = 0;
    let lines: Vec<_> = text.split_inclusive(|byte| *byte == b'\n').collect();
    let mut code_until = 0;
    for (index, whole) in lines.iter().copied().enumerate() {
        let line = index + 1;
        if index < code_until {
            at += whole.len();
            continue;
        }
        if begun.is_none()
            && let Some(fence) = fence(whole)
            && let Some(end) = lines[index + 1..].iter().position(|later| fence.is_ended_by(later))
        {
            code_until = index + end + 2;
        }
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

/// The line that begins a block of code.
struct Fence {
    mark: u8,
    length: usize,
}

fn fence(line: &[u8]) -> Option<Fence> {
    let text = line.trim_ascii();
    let mark = *text.first().filter(|mark| b"`~".contains(mark))?;
    let length = text.iter().take_while(|byte| **byte == mark).count();
    let is_code = length >= 3 && !(mark == b'`' && text[length..].contains(&b'`'));
    is_code.then_some(Fence { mark, length })
}

impl Fence {
    fn is_ended_by(&self, line: &[u8]) -> bool {
        let text = line.trim_ascii();
        text.len() >= self.length && text.iter().all(|byte| *byte == self.mark)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What becomes of a text; `BLOCK` stands for the block.
    fn check(text: &str, expected: Result<&str, &str>) {
        let newline = newline_of(text.as_bytes());
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
        // Lines that end in both ways: as the first one does.
        check("a\nb\r\n", Ok("a\nb\r\n\nBLOCK\n"));
        check("a\r\nBEGIN\nold\nEND\nb\n", Ok("a\r\nBLOCK\nb\n"));
        let half = |marker, line| format!("line {line}: `{marker}` without its other half");
        check("a\nBEGIN\nb\n", Err(&half(BEGIN, 2)));
        check("END\nBEGIN\n", Err(&half(END, 1)));
        check("BEGIN\nBEGIN\nEND\n", Err(&half(BEGIN, 1)));
        check("BEGIN\nEND\nEND\n", Err(&half(END, 3)));
        check("BEGIN\nEND\nx\nBEGIN\nEND\n", Err("line 4: a second block begins; the first is on line 1"));
    }

    #[test]
    fn a_marker_in_a_code_block_is_an_example() {
        let shown = |text: &str| text.replace("BEGIN", BEGIN).replace("END", END);
        for example in ["```md\nBEGIN\nEND\n```\n", "~~~\nBEGIN\n```\n~~~~\n", "  ```\nEND\n  ```\n", "    BEGIN\n"] {
            check(example, Ok(&format!("{}\nBLOCK\n", shown(example))));
            let both = format!("{example}BEGIN\nold\nEND\n```\nBEGIN\n```\n");
            check(&both, Ok(&format!("{}BLOCK\n{}", shown(example), shown("```\nBEGIN\n```\n"))));
        }
        // No code block: it never ends, or is one word of a line.
        check("```\nBEGIN\nold\nEND\n", Ok("```\nBLOCK\n"));
        check("```x``` y\nBEGIN\nold\nEND\n```\n", Ok("```x``` y\nBLOCK\n```\n"));
        // What the old block says is nobody's code.
        check("BEGIN\n```\nEND\nb\n```\n", Ok("BLOCK\nb\n```\n"));
    }

    #[test]
    fn bytes_that_are_no_text_stay() {
        let mut expected = b"\xe9\xff\n\n".to_vec();
        expected.extend(with_block(b"").unwrap());
        assert_eq!(with_block(b"\xe9\xff\n").unwrap(), expected);
    }
}
