//! yoi: a file-based ticket orchestrator daemon. The rooms in floor order; arrows point down only.

pub mod domain;
pub mod text;
