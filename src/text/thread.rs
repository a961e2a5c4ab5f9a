//! The thread of a ticket: a Markdown file beside it to which audit notes are appended, one line each.
//!
//! Must not know: files, the current time (it is in the note). DESIGN.md 2.1.

use crate::domain::harmless::is_harmful;

/// What a new thread file starts with.
pub fn heading(id: &str) -> String {
    format!("# Thread of {}\n\n", one_line(id))
}

/// One note as one line of text, ready to append: line breaks and control characters are made harmless.
pub fn line(note: &str) -> String {
    format!("{}\n", one_line(note.trim()))
}

fn one_line(text: &str) -> String {
    let harmless = |c: char| match c {
        '\n' | '\r' | '\t' | '\u{85}' | '\u{2028}' | '\u{2029}' => ' ',
        c if is_harmful(c) => '\u{fffd}',
        c => c,
    };
    text.chars().map(harmless).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_note_is_one_harmless_line() {
        assert_eq!(
            line("- t — STATE a -> b: why\n# Fake\r\n\u{1b}[2J"),
            "- t — STATE a -> b: why # Fake  \u{fffd}[2J\n"
        );
        assert_eq!(heading("a\nb"), "# Thread of a b\n\n");
    }
}
