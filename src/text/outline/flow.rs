//! Flow style: `[a, b]` and `{a: b}`.
//!
//! Must not know: what comes of the nodes.

use super::block::Props;
use super::{Entry, Found, Kind, Node, Scanner, is_gap};

impl Scanner<'_> {
    /// A whole `[...]` or `{...}`, over as many lines as it takes.
    pub(super) fn flow_collection(&mut self) -> Found<Node> {
        self.deeper(|s| if s.peek() == Some(b'[') { s.flow_seq() } else { s.flow_map() })
    }

    fn flow_seq(&mut self) -> Found<Node> {
        let start = self.pos;
        self.pos += 1;
        let mut items = Vec::new();
        while !self.flow_end(b']')? {
            let pair = self.flow_entry()?;
            let is_pair = pair.1;
            let entry = pair.0;
            items.push(if is_pair {
                let span = entry.span();
                Node::of(Kind::FlowMap(vec![entry]), span)
            } else {
                entry.key
            });
            self.flow_comma(b']')?;
        }
        Ok(Node::of(Kind::FlowSeq(items), start..self.pos))
    }

    fn flow_map(&mut self) -> Found<Node> {
        let start = self.pos;
        self.pos += 1;
        let mut entries = Vec::new();
        while !self.flow_end(b'}')? {
            entries.push(self.flow_entry()?.0);
            self.flow_comma(b'}')?;
        }
        Ok(Node::of(Kind::FlowMap(entries), start..self.pos))
    }

    /// Skips to the next item; true, and past the bracket, at the end.
    fn flow_end(&mut self, close: u8) -> Found<bool> {
        self.skip_to_content();
        match self.peek() {
            Some(byte) if byte == close => {
                self.pos += 1;
                Ok(true)
            }
            None | Some(b',' | b']' | b'}') => self.lost(),
            _ => Ok(false),
        }
    }

    fn flow_comma(&mut self, close: u8) -> Found<()> {
        self.skip_to_content();
        match self.peek() {
            Some(b',') => {
                self.pos += 1;
                Ok(())
            }
            Some(byte) if byte == close => Ok(()),
            _ => self.lost(),
        }
    }

    /// One item, and whether it is a `key: value` pair.
    fn flow_entry(&mut self) -> Found<(Entry, bool)> {
        let start = self.pos;
        let explicit = self.at_indicator(b'?');
        if explicit {
            self.pos += 1;
            self.skip_to_content();
        }
        let key = self.flow_node()?;
        let end = self.pos;
        self.skip_to_content();
        if self.peek() == Some(b':') {
            self.pos += 1;
            let after = self.pos;
            self.skip_to_content();
            let value = if self.at_flow_end() {
                self.pos = after;
                Node::empty(after)
            } else {
                self.flow_node()?
            };
            return Ok((Entry { start, key, value }, true));
        }
        self.pos = end;
        Ok((Entry { start, key, value: Node::empty(end) }, explicit))
    }

    fn at_flow_end(&self) -> bool {
        matches!(self.peek(), None | Some(b',' | b']' | b'}'))
    }

    fn flow_node(&mut self) -> Found<Node> {
        let mut props = Props::default();
        let mut empty_at = self.pos;
        while self.read_prop(&mut props, true)? {
            empty_at = self.pos;
            self.skip_to_content();
        }
        let node = match self.peek() {
            Some(b'[' | b'{') => self.flow_collection()?,
            Some(b'"' | b'\'') => self.quoted()?,
            Some(b'*') => self.alias()?,
            Some(b':') if is_gap(self.peek_at(1)) => Node::empty(self.pos),
            _ if self.at_flow_end() => {
                self.pos = empty_at;
                Node::empty(empty_at)
            }
            _ => self.flow_plain()?,
        };
        Ok(props.on(node))
    }
}
