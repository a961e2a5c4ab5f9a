//! Floor 0: text in, values out: frontmatter reading and lossless patching, thread notes.
//!
//! A ticket file is cut by `slice`, its YAML is read by serde_yaml (`values`) and located by our own `outline`,
//! [`read`] makes the ticket of both (or of what `plain` read, where a text leaves no doubt), [`patch`] changes the lines of
//! one key and proves that it changed nothing else.
//!
//! Must not know: files (bytes are arguments), processes, the current time.

pub mod agent_hook;
pub mod agents_block;
pub mod child;
pub mod children;
pub mod claim_record;
pub mod crosscheck;
pub mod document;
pub mod draft;
pub mod duration;
mod explain;
pub mod keys;
pub mod lineage;
pub mod merge;
pub mod nearest;
mod outline;
pub mod patch;
mod plain;
pub mod quote;
pub mod read;
pub mod retained;
pub mod slice;
pub mod thread;
pub mod timestamp;
mod values;

#[cfg(test)]
mod pitfalls;
