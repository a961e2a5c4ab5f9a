//! The block for agents in AGENTS.md and CLAUDE.md, as a part of `yoi init`.
//!
//! Must not know: what the block says, how a file is written.

use std::path::Path;

use super::output;
use crate::adapters::guides::{self, Guide, GuideError, Written};
use crate::api::failure::Failure;

/// The workspace's guides with the block in them, not yet written.
pub fn look(root: &Path) -> Result<Vec<Guide>, Failure> {
    guides::look(root).map_err(|error| unguided(&error))
}

/// Writes them, and says of each what became of it.
pub fn write(guides: &[Guide]) -> Result<(), Failure> {
    for guide in guides {
        let what = match guide.write().map_err(|error| unguided(&error))? {
            Written::Made => "made, with the block for agents",
            Written::Changed => "has the block for agents now; nothing else in it was touched",
            Written::Same => "has the block for agents already",
        };
        output::print(&format!("{}: {what}", guide.name))?;
    }
    Ok(())
}

fn unguided(error: &GuideError) -> Failure {
    let message = error.to_string();
    match error {
        GuideError::Io { .. } => Failure::failed(message),
        GuideError::Broken { .. } => Failure::refused(message)
            .hint("one <!-- yoi:begin --> and one <!-- yoi:end --> below it, or neither; then say it again"),
        GuideError::Changed(_) => Failure::refused(message).hint("`yoi init --agents-block` tries again"),
        GuideError::Outside(_) | GuideError::Unfit { .. } => Failure::refused(message),
    }
}
