//! The ticket folder.
use crate::domain::ticket::TicketId;
use std::path::Path;

/// The id.
pub fn id_of(path: &Path) -> TicketId {
    let stem = |p: Option<&std::ffi::OsStr>| p.unwrap_or_default().to_string_lossy().into_owned();
    if path.file_name().is_some_and(|n| n == "item.md") {
        return TicketId::new(stem(path.parent().and_then(Path::file_name)));
    }
    TicketId::new(stem(path.file_stem()))
}
