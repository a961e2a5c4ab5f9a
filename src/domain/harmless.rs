//! Text from files, refs and processes, made harmless and quoted as data, for every face and every list.
//!
//! Must not know: where it is shown. DESIGN.md 5 (ticket text is quoted) and 8 (escapes are made harmless).

/// How much of a ticket's text is quoted.
pub const LONGEST: usize = 120;

/// Replaces what steers a terminal, the layout of a list or a reader who is no person: control characters, line breaks,
/// direction overrides, and characters that nobody sees.
pub fn harmless(text: &str) -> String {
    if is_plain(text) {
        return text.to_owned();
    }
    text.chars().map(|c| if is_harmful(c) { '\u{fffd}' } else { c }).collect()
}

/// Printable ASCII, as nearly every text is: [`harmless`] leaves it as it is.
pub fn is_plain(text: &str) -> bool {
    text.bytes().all(|byte| matches!(byte, b' '..=b'~'))
}

/// Whether [`harmless`] replaces it. Joiners of scripts and emoji are what people write.
pub fn is_harmful(c: char) -> bool {
    c.is_control()
        || matches!(c,
            // Direction marks and overrides, line and paragraph separators.
            '\u{61c}' | '\u{200e}' | '\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2066}'..='\u{2069}'
            // Invisible: zero widths, operators that print nothing, annotations, tags (in which whole sentences hide).
            | '\u{180e}' | '\u{200b}' | '\u{2060}'..='\u{2065}' | '\u{206a}'..='\u{206f}' | '\u{feff}'
            | '\u{fff9}'..='\u{fffb}' | '\u{e0000}'..='\u{e0fff}')
}

/// At most [`LONGEST`] characters; a mark says that there was more.
pub fn cut(text: &str) -> String {
    match text.char_indices().nth(LONGEST - 1) {
        Some((end, last)) if end + last.len_utf8() < text.len() => format!("{}\u{2026}", &text[..end]),
        _ => text.to_owned(),
    }
}

/// As a code span, in which nothing ends the quotation; cut.
pub fn quoted(text: impl AsRef<str>) -> String {
    format!("`{}`", harmless(&cut(text.as_ref())).replace('`', "'"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_hidden_or_steering_is_left() {
        let hostile = "a\u{1b}[31m\n\r\t\u{9b}\u{7f}\u{202e}\u{2066}\u{200b}\u{2028}\u{feff}\u{e0041}\u{e0100}\u{61c}z";
        let text = harmless(hostile);
        assert!(!text.chars().any(is_harmful) && text.chars().count() == hostile.chars().count(), "{text:?}");
        for plain in [
            "Caf\u{e9}",
            "\u{8868}",
            "\u{1f468}\u{200d}\u{1f469}",
            "\u{645}\u{6cc}\u{200c}\u{62e}",
            "e\u{301} \u{2764}\u{fe0f}",
        ] {
            assert_eq!(harmless(plain), plain);
        }
    }

    #[test]
    fn a_quotation_is_one_short_span() {
        assert_eq!(quoted("a `b` c"), "`a 'b' c`");
        assert_eq!(quoted("x`\n2. `forged"), "`x'\u{fffd}2. 'forged`");
        assert_eq!(quoted("\u{8868}".repeat(LONGEST)), format!("`{}`", "\u{8868}".repeat(LONGEST)));
        assert_eq!(quoted("y".repeat(9999)), format!("`{}\u{2026}`", "y".repeat(LONGEST - 1)));
    }
}
