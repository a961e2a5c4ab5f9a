//! Where things stand in a YAML text: every node with its byte range, so that values keep their source text and an edit
//! knows its lines.
//!
//! The outline is made for text that serde_yaml accepts; it follows libyaml's rules, and where it loses the thread it says
//! so ([`Lost`]) instead of guessing. Must not know: what a value means (serde_yaml decides that), tickets.

mod block;
mod flow;
mod scalar;

use std::collections::BTreeMap;
use std::ops::Range;

/// The outline could not follow the text, from this byte on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Lost {
    pub(crate) at: usize,
    /// Because it is nested deeper than anything is read.
    pub(crate) too_deep: bool,
}

type Found<T> = Result<T, Lost>;

/// Nesting beyond this is not followed; serde_yaml stops a little earlier.
const MAX_DEPTH: usize = 140;

/// One node of the YAML text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Node {
    pub(crate) kind: Kind,
    /// The content, without anchor and tag. A block scalar's range includes its last line end and the blank lines after it.
    pub(crate) span: Range<usize>,
    /// Anchor and tag, where there are any.
    pub(crate) props: Option<Range<usize>>,
    pub(crate) anchor: Option<String>,
    pub(crate) tag: Option<String>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    /// Nothing is written.
    Empty,
    Alias(String),
    /// Unquoted; the text as YAML reads it (folded).
    Plain(String),
    Single,
    Double,
    /// `|` or `>`; the header ends here.
    Block {
        header_end: usize,
    },
    FlowSeq(Vec<Node>),
    FlowMap(Vec<Entry>),
    BlockSeq(Vec<Item>),
    BlockMap(Vec<Entry>),
}

/// One `- item`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Item {
    pub(crate) dash: usize,
    pub(crate) node: Node,
}

/// One `key: value`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Entry {
    /// Where the entry starts: its key, or the `?` before it.
    pub(crate) start: usize,
    pub(crate) key: Node,
    pub(crate) value: Node,
}

impl Entry {
    /// The entry's bytes, from key to the end of its value.
    pub(crate) fn span(&self) -> Range<usize> {
        self.start..self.value.end()
    }
}

impl Node {
    fn empty(at: usize) -> Self {
        Self { kind: Kind::Empty, span: at..at, props: None, anchor: None, tag: None }
    }

    fn of(kind: Kind, span: Range<usize>) -> Self {
        Self { kind, span, props: None, anchor: None, tag: None }
    }

    /// Where the node starts, anchor and tag included.
    pub(crate) fn start(&self) -> usize {
        self.props.as_ref().map_or(self.span.start, |p| p.start.min(self.span.start))
    }

    /// Where the node ends.
    pub(crate) fn end(&self) -> usize {
        self.props.as_ref().map_or(self.span.end, |p| p.end.max(self.span.end))
    }

    /// The text of a scalar on the way it is written, quotes and escapes resolved; None for collections and aliases.
    pub(crate) fn text(&self, source: &str) -> Option<String> {
        match &self.kind {
            Kind::Plain(text) => Some(text.clone()),
            Kind::Empty => Some(String::new()),
            Kind::Single | Kind::Double | Kind::Block { .. } => serde_yaml::from_str(&source[self.span.clone()]).ok(),
            _ => None,
        }
    }

    /// The entries of a mapping.
    pub(crate) fn entries(&self) -> &[Entry] {
        match &self.kind {
            Kind::FlowMap(entries) | Kind::BlockMap(entries) => entries,
            _ => &[],
        }
    }

    /// The items of a list.
    pub(crate) fn items(&self) -> Vec<&Node> {
        match &self.kind {
            Kind::FlowSeq(nodes) => nodes.iter().collect(),
            Kind::BlockSeq(items) => items.iter().map(|i| &i.node).collect(),
            _ => Vec::new(),
        }
    }

    /// Whether the node is a collection in flow style.
    pub(crate) fn is_flow(&self) -> bool {
        matches!(self.kind, Kind::FlowSeq(_) | Kind::FlowMap(_))
    }

    /// Calls `visit` for this node and all nodes in it, keys included, in the order of the text.
    pub(crate) fn walk<'n>(&'n self, visit: &mut dyn FnMut(&'n Node)) {
        visit(self);
        for node in self.items() {
            node.walk(visit);
        }
        for entry in self.entries() {
            entry.key.walk(visit);
            entry.value.walk(visit);
        }
    }

    /// How many nodes there are once each alias is replaced by what it names; saturating. `sizes` learns the anchors.
    pub(crate) fn expanded(&self, sizes: &mut BTreeMap<String, u64>) -> u64 {
        if let Some(anchor) = &self.anchor {
            sizes.insert(anchor.clone(), u64::MAX); // an alias inside its own anchor never ends
        }
        let size = if let Kind::Alias(name) = &self.kind {
            sizes.get(name).copied().unwrap_or(1)
        } else {
            let items = self.items().into_iter().map(|n| n.expanded(sizes)).fold(1, u64::saturating_add);
            self.entries()
                .iter()
                .fold(items, |sum, e| sum.saturating_add(e.key.expanded(sizes)).saturating_add(e.value.expanded(sizes)))
        };
        if let Some(anchor) = &self.anchor {
            sizes.insert(anchor.clone(), size);
        }
        size
    }
}

/// The outline of a whole text.
pub(crate) fn outline(source: &str) -> Found<Node> {
    Scanner { source, bytes: source.as_bytes(), pos: 0, depth: 0 }.root()
}

struct Scanner<'s> {
    source: &'s str,
    bytes: &'s [u8],
    pos: usize,
    depth: usize,
}

fn is_blank(byte: Option<u8>) -> bool {
    matches!(byte, Some(b' ' | b'\t'))
}

fn is_break(byte: Option<u8>) -> bool {
    matches!(byte, Some(b'\n' | b'\r'))
}

/// Blank, line end or end of text: what must follow an indicator.
fn is_gap(byte: Option<u8>) -> bool {
    byte.is_none() || is_blank(byte) || is_break(byte)
}

impl Scanner<'_> {
    fn root(mut self) -> Found<Node> {
        let node = self.block_node(-1, false, true)?;
        self.skip_to_content();
        if self.pos == self.bytes.len() { Ok(node) } else { self.lost() }
    }

    fn peek(&self) -> Option<u8> {
        self.bytes.get(self.pos).copied()
    }

    fn peek_at(&self, ahead: usize) -> Option<u8> {
        self.bytes.get(self.pos + ahead).copied()
    }

    fn lost<T>(&self) -> Found<T> {
        Err(Lost { at: self.pos, too_deep: false })
    }

    /// An indicator (`-`, `?`, `:`) stands here.
    fn at_indicator(&self, byte: u8) -> bool {
        self.peek() == Some(byte) && is_gap(self.peek_at(1))
    }

    /// The column of the current position, in bytes: equal to characters for indentation.
    fn column(&self) -> isize {
        let line = self.bytes[..self.pos].iter().rposition(|b| is_break(Some(*b))).map_or(0, |n| n + 1);
        isize::try_from(self.pos - line).unwrap_or(isize::MAX)
    }

    fn skip_blanks(&mut self) {
        while is_blank(self.peek()) {
            self.pos += 1;
        }
    }

    fn skip_break(&mut self) {
        if self.peek() == Some(b'\r') && self.peek_at(1) == Some(b'\n') {
            self.pos += 1;
        }
        self.pos += 1;
    }

    fn skip_line(&mut self) {
        while self.peek().is_some() && !is_break(self.peek()) {
            self.pos += 1;
        }
    }

    /// Skips blanks, comments and line ends; true if a line end was among them.
    fn skip_to_content(&mut self) -> bool {
        let mut crossed = self.pos == 0;
        loop {
            self.skip_blanks();
            let free = self.pos == 0 || is_gap(Some(self.bytes[self.pos - 1]));
            match self.peek() {
                Some(b'#') if free => self.skip_line(),
                byte if is_break(byte) => {
                    self.skip_break();
                    crossed = true;
                }
                _ => return crossed,
            }
        }
    }

    fn deeper<T>(&mut self, scan: impl FnOnce(&mut Self) -> Found<T>) -> Found<T> {
        if self.depth >= MAX_DEPTH {
            return Err(Lost { at: self.pos, too_deep: true });
        }
        self.depth += 1;
        let found = scan(self);
        self.depth -= 1;
        found
    }
}

#[cfg(test)]
mod tests;
