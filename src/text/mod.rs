//! Floor 0: text in, values out: frontmatter reading and lossless patching, thread notes.
//!
//! Must not know: files (bytes are arguments), processes, the current time.

pub mod duration;
