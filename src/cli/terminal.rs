//! The terminal: whether colours are wanted, how wide it is, how many columns a text takes.
//!
//! Must not know: what is printed.

use std::io::{self, IsTerminal};
use std::sync::LazyLock;

use crate::adapters::environment;

/// The columns that a title takes at most where no terminal says how wide it is.
pub const WIDE: usize = 120;

/// A way to set text off. What it says can be read without it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Colour {
    Plain,
    Bold,
    Dim,
    Red,
    Green,
    Yellow,
    Cyan,
}

impl Colour {
    fn code(self) -> &'static str {
        match self {
            Colour::Plain => "",
            Colour::Bold => "1",
            Colour::Dim => "2",
            Colour::Red => "31",
            Colour::Green => "32",
            Colour::Yellow => "33",
            Colour::Cyan => "36",
        }
    }
}

/// The text in this colour if standard output is a terminal that wants colours. The text has to be harmless already.
pub fn paint(colour: Colour, text: &str) -> String {
    painted(*WANTED, colour, text)
}

/// Adds the same to a longer text.
pub fn add(to: &mut String, colour: Colour, text: &str) {
    if *WANTED {
        to.push_str(&painted(true, colour, text));
    } else {
        to.push_str(text);
    }
}

static WANTED: LazyLock<bool> = LazyLock::new(|| io::stdout().is_terminal() && environment::wants_colour());

/// The same for standard error.
pub fn paint_error(colour: Colour, text: &str) -> String {
    painted(io::stderr().is_terminal() && environment::wants_colour(), colour, text)
}

fn painted(wanted: bool, colour: Colour, text: &str) -> String {
    if wanted && colour != Colour::Plain && !text.is_empty() {
        format!("\u{1b}[{}m{text}\u{1b}[0m", colour.code())
    } else {
        text.to_owned()
    }
}

/// How wide the terminal is, if standard output is one.
pub fn width() -> Option<usize> {
    let size = rustix::termios::tcgetwinsize(io::stdout()).ok()?;
    Some(usize::from(size.ws_col)).filter(|columns| *columns > 0)
}

/// The columns that a text takes: letters of East Asia and pictures two, marks that combine none.
pub fn columns(text: &str) -> usize {
    if text.is_ascii() {
        return text.len();
    }
    text.chars().map(columns_of).sum()
}

fn columns_of(c: char) -> usize {
    match u32::from(c) {
        0x300..=0x36f | 0x200b..=0x200d | 0xfe00..=0xfe0f => 0,
        0x1100..=0x115f
        | 0x2e80..=0xa4cf
        | 0xac00..=0xd7a3
        | 0xf900..=0xfaff
        | 0xfe30..=0xfe6f
        | 0xff00..=0xff60
        | 0xffe0..=0xffe6
        | 0x1f300..=0x1f64f
        | 0x1f680..=0x1f6ff
        | 0x1f900..=0x1f9ff
        | 0x20000..=0x3fffd => 2,
        _ => 1,
    }
}

/// The text in at most so many columns, its end replaced by `…` where it is longer.
pub fn cut(text: &str, most: usize) -> String {
    if columns(text) <= most {
        return text.to_owned();
    }
    let mut taken = 1;
    let fits = |c: &char| {
        taken += columns_of(*c);
        taken <= most
    };
    let mut kept: String = text.chars().take_while(fits).collect();
    kept.truncate(kept.trim_end().len());
    kept + "…"
}

/// The text filled up with spaces to so many columns.
pub fn filled(text: &str, to: usize) -> String {
    text.to_owned() + &" ".repeat(to.saturating_sub(columns(text)))
}

/// The text in lines of at most so many columns, broken between words.
pub fn wrapped(text: &str, most: usize) -> Vec<String> {
    let mut lines: Vec<String> = Vec::new();
    for word in text.split(' ') {
        match lines.last_mut() {
            Some(line) if columns(line) + 1 + columns(word) <= most => {
                line.push(' ');
                line.push_str(word);
            }
            _ => lines.push(word.to_owned()),
        }
    }
    lines
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn colour_is_for_terminals_only() {
        assert_eq!(painted(true, Colour::Red, "x"), "\u{1b}[31mx\u{1b}[0m");
        for (wanted, colour, text) in [(false, Colour::Red, "x"), (true, Colour::Plain, "x"), (true, Colour::Red, "")] {
            assert_eq!(painted(wanted, colour, text), text, "{wanted} {colour:?}");
        }
    }

    #[test]
    fn columns_of_wide_letters() {
        for (text, most, expected) in [
            ("abc", 3, "abc"),
            ("abcd", 3, "ab…"),
            ("ab cd", 4, "ab…"),
            ("日本語", 6, "日本語"),
            ("日本語", 5, "日本…"),
            ("日本語", 4, "日…"),
            ("e\u{301}te", 3, "e\u{301}te"),
            ("abc", 0, "…"),
        ] {
            assert_eq!(cut(text, most), expected, "{text} in {most}");
        }
        assert_eq!(filled("日", 4), "日  ");
        assert_eq!(filled("abc", 2), "abc");
        assert_eq!(wrapped("a bc def g", 5), ["a bc", "def g"]);
        assert_eq!(wrapped("longer than it", 4), ["longer", "than", "it"]);
    }
}
