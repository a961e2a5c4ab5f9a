//! Floor 4: the one contract behind every face: requests, responses, views, errors.
//!
//! Must not know: files, git, SQL, a terminal.

pub mod failure;
pub mod inspect;
pub mod settings;
