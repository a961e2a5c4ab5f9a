//! Block style: mappings and lists by indentation.
//!
//! Must not know: what comes of the nodes.

use super::{Entry, Found, Item, Kind, Node, Scanner, is_blank, is_break, is_gap};

/// Anchor and tag before a node.
#[derive(Default)]
pub(super) struct Props {
    span: Option<std::ops::Range<usize>>,
    anchor: Option<String>,
    tag: Option<String>,
}

impl Props {
    pub(super) fn on(self, mut node: Node) -> Node {
        if self.span.is_some() {
            node.props = self.span;
            node.anchor = self.anchor;
            node.tag = self.tag;
        }
        node
    }
}

impl Scanner<'_> {
    /// The node after an indicator, on this line or the following ones. `parent` is the indentation of the collection it
    /// stands in; a list may stand at the same column (`same_column`) under a key; `compact` says that a collection may
    /// start on this very line, as after `- `.
    pub(super) fn block_node(&mut self, parent: isize, same_column: bool, compact: bool) -> Found<Node> {
        self.deeper(|s| s.block_node_here(parent, same_column, compact))
    }

    fn block_node_here(&mut self, parent: isize, same_column: bool, compact: bool) -> Found<Node> {
        let mut props = Props::default();
        let mut empty_at = self.pos;
        let mut fresh_line = compact;
        loop {
            let crossed = self.skip_to_content();
            fresh_line |= crossed;
            let column = self.column();
            let dash = self.at_indicator(b'-');
            let belongs = !crossed || column > parent || (same_column && dash && column == parent);
            if self.peek().is_none() || !belongs {
                self.pos = empty_at;
                return Ok(props.on(Node::empty(empty_at)));
            }
            if fresh_line && dash {
                return Ok(props.on(self.block_seq(column)?));
            }
            if fresh_line && (self.at_indicator(b'?') || self.at_key()) {
                return Ok(props.on(self.block_map(column)?));
            }
            if !self.read_prop(&mut props, false)? {
                return Ok(props.on(self.leaf(parent)?));
            }
            empty_at = self.pos;
            fresh_line = false;
        }
    }

    /// A node that is no block collection.
    fn leaf(&mut self, parent: isize) -> Found<Node> {
        match self.peek() {
            Some(b'|' | b'>') => self.block_scalar(parent),
            Some(b'[' | b'{') => self.flow_collection(),
            Some(b'"' | b'\'') => self.quoted(),
            Some(b'*') => self.alias(),
            _ => self.plain(parent),
        }
    }

    fn block_seq(&mut self, indent: isize) -> Found<Node> {
        let start = self.pos;
        let mut items = Vec::new();
        loop {
            let dash = self.pos;
            self.pos += 1;
            let node = self.block_node(indent, false, true)?;
            items.push(Item { dash, node });
            let end = self.pos;
            self.skip_to_content();
            if self.column() != indent || !self.at_indicator(b'-') {
                self.pos = end;
                return Ok(Node::of(Kind::BlockSeq(items), start..end));
            }
        }
    }

    fn block_map(&mut self, indent: isize) -> Found<Node> {
        let start = self.pos;
        let mut entries = Vec::new();
        loop {
            entries.push(self.block_entry(indent)?);
            let end = self.pos;
            let crossed = self.skip_to_content() || matches!(self.bytes[..end].last(), Some(b'\n' | b'\r'));
            if self.peek().is_none() || !crossed || self.column() != indent {
                self.pos = end;
                return Ok(Node::of(Kind::BlockMap(entries), start..end));
            }
            if self.at_indicator(b'-') {
                return self.lost();
            }
        }
    }

    fn block_entry(&mut self, indent: isize) -> Found<Entry> {
        let start = self.pos;
        if self.at_indicator(b'?') {
            self.pos += 1;
            let key = self.block_node(indent, false, true)?;
            let end = self.pos;
            self.skip_to_content();
            if self.column() == indent && self.at_indicator(b':') {
                self.pos += 1;
                let value = self.block_node(indent, false, true)?;
                return Ok(Entry { start, key, value });
            }
            self.pos = end;
            return Ok(Entry { start, key, value: Node::empty(end) });
        }
        let key = self.simple_key()?;
        self.skip_blanks();
        if !self.at_indicator(b':') {
            return self.lost();
        }
        self.pos += 1;
        let value = self.block_node(indent, true, false)?;
        Ok(Entry { start, key, value })
    }

    /// Whether a `key:` starts here, on one line.
    fn at_key(&mut self) -> bool {
        let start = self.pos;
        let found = self.simple_key().is_ok() && {
            self.skip_blanks();
            self.at_indicator(b':')
        };
        let one_line = !self.bytes[start..self.pos].iter().any(|b| is_break(Some(*b)));
        self.pos = start;
        found && one_line
    }

    /// A key on one line, with its anchor and tag; stops before the blanks and the colon.
    fn simple_key(&mut self) -> Found<Node> {
        let mut props = Props::default();
        while self.read_prop(&mut props, false)? {
            self.skip_blanks();
        }
        let node = match self.peek() {
            Some(b'"' | b'\'') => self.quoted()?,
            Some(b'*') => self.alias()?,
            Some(b'[' | b'{') => self.flow_collection()?,
            Some(b'|' | b'>' | b'@' | b'`' | b'%') | None => return self.lost(),
            _ if self.at_indicator(b':') => Node::empty(self.pos),
            _ => self.plain_key()?,
        };
        Ok(props.on(node))
    }

    /// An unquoted key: up to the first colon with a gap after it.
    fn plain_key(&mut self) -> Found<Node> {
        let start = self.pos;
        while let Some(byte) = self.peek() {
            if is_break(Some(byte)) || (byte == b'#' && self.pos > start && is_blank(Some(self.bytes[self.pos - 1]))) {
                return self.lost();
            }
            if self.at_indicator(b':') {
                let text = self.source[start..self.pos].trim_end_matches([' ', '\t']);
                let end = start + text.len();
                self.pos = end;
                return Ok(Node::of(Kind::Plain(text.to_owned()), start..end));
            }
            self.pos += 1;
        }
        self.lost()
    }

    /// Reads one anchor or tag; false if none stands here.
    pub(super) fn read_prop(&mut self, props: &mut Props, in_flow: bool) -> Found<bool> {
        let start = self.pos;
        let Some(mark @ (b'&' | b'!')) = self.peek() else { return Ok(false) };
        let ends = |byte| is_gap(byte) || (in_flow && matches!(byte, Some(b',' | b'[' | b']' | b'{' | b'}')));
        while !ends(self.peek()) {
            self.pos += 1;
        }
        let text = self.source[start..self.pos].to_owned();
        let slot = if mark == b'&' { &mut props.anchor } else { &mut props.tag };
        if slot.is_some() {
            self.pos = start;
            return self.lost();
        }
        *slot = Some(if mark == b'&' { text[1..].to_owned() } else { text });
        props.span = Some(props.span.as_ref().map_or(start, |s| s.start)..self.pos);
        Ok(true)
    }
}
