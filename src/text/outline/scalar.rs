//! Scalars: plain, quoted, `|` and `>`, and aliases.
//!
//! Must not know: what the text means (number, date or word).

use super::{Found, Kind, Node, Scanner, is_break, is_gap};

impl Scanner<'_> {
    pub(super) fn alias(&mut self) -> Found<Node> {
        let start = self.pos;
        self.pos += 1;
        while self.peek().is_some_and(|b| b.is_ascii_alphanumeric() || b == b'_' || b == b'-') {
            self.pos += 1;
        }
        if self.pos == start + 1 {
            return self.lost();
        }
        Ok(Node::of(Kind::Alias(self.source[start + 1..self.pos].to_owned()), start..self.pos))
    }

    pub(super) fn quoted(&mut self) -> Found<Node> {
        let start = self.pos;
        let double = self.peek() == Some(b'"');
        let quote = if double { b'"' } else { b'\'' };
        self.pos += 1;
        while let Some(byte) = self.peek() {
            self.pos += 1;
            if double && byte == b'\\' {
                self.pos += usize::from(self.peek().is_some());
            } else if byte == quote {
                if !double && self.peek() == Some(quote) {
                    self.pos += 1;
                    continue;
                }
                let kind = if double { Kind::Double } else { Kind::Single };
                return Ok(Node::of(kind, start..self.pos));
            }
        }
        self.pos = start;
        self.lost()
    }

    /// An unquoted value in block style: to the end of the line, and on over lines that are indented more than `parent`.
    pub(super) fn plain(&mut self, parent: isize) -> Found<Node> {
        self.plain_lines(|s| s.column() > parent, |_| false)
    }

    /// An unquoted value in flow style.
    pub(super) fn flow_plain(&mut self) -> Found<Node> {
        self.plain_lines(|_| true, |byte| matches!(byte, b',' | b'[' | b']' | b'{' | b'}'))
    }

    fn plain_lines(&mut self, continues: impl Fn(&Self) -> bool, stops: impl Fn(u8) -> bool) -> Found<Node> {
        let start = self.pos;
        let mut text = String::new();
        let mut end = start;
        loop {
            let line = self.pos;
            while let Some(byte) = self.peek() {
                let comment = byte == b'#' && self.pos > start && is_gap(Some(self.bytes[self.pos - 1]));
                let colon = byte == b':' && (is_gap(self.peek_at(1)) || self.peek_at(1).is_some_and(&stops));
                if is_break(Some(byte)) || comment || colon || stops(byte) {
                    break;
                }
                self.pos += 1;
            }
            let run = self.source[line..self.pos].trim_end_matches([' ', '\t']);
            if run.is_empty() {
                self.pos = end;
                break;
            }
            text.push_str(run);
            end = line + run.len();
            let breaks = self.next_plain_line();
            if breaks == 0 || !continues(self) {
                self.pos = end;
                break;
            }
            if breaks == 1 {
                text.push(' ');
            }
            text.extend(std::iter::repeat_n('\n', breaks - 1));
        }
        if end == start { self.lost() } else { Ok(Node::of(Kind::Plain(text), start..end)) }
    }

    /// Goes to the first non-blank byte of the next line with text; how many line ends were crossed.
    fn next_plain_line(&mut self) -> usize {
        let mut breaks = 0;
        loop {
            self.skip_blanks();
            if self.peek().is_none() || !is_break(self.peek()) {
                let comment = self.peek() == Some(b'#');
                return if self.peek().is_none() || comment { 0 } else { breaks };
            }
            self.skip_break();
            breaks += 1;
        }
    }

    /// `|` or `>` with its lines. `parent` is the indentation of the collection around it.
    pub(super) fn block_scalar(&mut self, parent: isize) -> Found<Node> {
        let start = self.pos;
        self.pos += 1;
        let mut indent = None;
        while let Some(byte @ (b'+' | b'-' | b'1'..=b'9')) = self.peek() {
            if byte.is_ascii_digit() {
                indent = Some(usize::from(byte - b'0') + usize::try_from(parent.max(0)).unwrap_or(0));
            }
            self.pos += 1;
        }
        let header_end = self.pos;
        self.skip_blanks();
        if self.peek() == Some(b'#') {
            self.skip_line();
        }
        if self.peek().is_some() && !is_break(self.peek()) {
            return self.lost();
        }
        if self.peek().is_some() {
            self.skip_break();
        }
        let least = usize::try_from(parent + 1).unwrap_or(0).max(1);
        let indent = indent.unwrap_or_else(|| self.content_indent(least));
        self.block_lines(indent);
        Ok(Node::of(Kind::Block { header_end }, start..self.pos))
    }

    /// The indentation of the first line with text, but at least `least` and no less than the blank lines before it.
    fn content_indent(&self, least: usize) -> usize {
        let mut at = self.pos;
        let mut most = 0;
        loop {
            let spaces = self.bytes[at..].iter().take_while(|b| **b == b' ').count();
            most = most.max(spaces);
            at += spaces;
            match self.bytes.get(at) {
                Some(b'\n') => at += 1,
                Some(b'\r') => at += if self.bytes.get(at + 1) == Some(&b'\n') { 2 } else { 1 },
                _ => return most.max(least),
            }
        }
    }

    /// Consumes the lines with at least this indentation, and all blank ones between and after them.
    fn block_lines(&mut self, indent: usize) {
        while self.pos < self.bytes.len() {
            let rest = &self.bytes[self.pos..];
            let spaces = rest.iter().take_while(|b| **b == b' ').count();
            let after = rest.get(spaces).copied();
            let blank = after.is_none() || is_break(after);
            if !blank && spaces < indent {
                return;
            }
            self.skip_line();
            if self.peek().is_some() {
                self.skip_break();
            }
        }
    }
}
