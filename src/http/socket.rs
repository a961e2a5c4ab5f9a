//! The socket's file: made so that nobody else ever can connect, and looked after.
//!
//! Must not know: what is served on it.

use std::io;
use std::os::unix::fs::{MetadataExt, PermissionsExt};
use std::path::Path;

use tokio::net::UnixListener;
use tokio::sync::Notify;

use crate::adapters::fault;

/// Returns when the file at the path is not this one any more.
pub(super) async fn replaced(socket: &Path, ours: (u64, u64), look: &Notify) {
    while identity(socket).is_ok_and(|there| there == ours) {
        look.notified().await;
    }
}

fn identity(path: &Path) -> io::Result<(u64, u64)> {
    path.symlink_metadata().map(|there| (there.dev(), there.ino()))
}

/// Binds under another name first, so that the socket is never there with another mode than 0600.
pub(super) fn bind(socket: &Path) -> io::Result<(UnixListener, (u64, u64))> {
    let staged = socket.with_extension("new");
    let _ = std::fs::remove_file(&staged);
    let listener = UnixListener::bind(&staged)?;
    fault::delay("after-bind");
    std::fs::set_permissions(&staged, std::fs::Permissions::from_mode(0o600))?;
    let ours = identity(&staged)?;
    std::fs::rename(&staged, socket)?;
    Ok((listener, ours))
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    #[test]
    fn a_socket_is_never_there_with_another_mode_and_never_gone() {
        let folder = tempfile::tempdir().unwrap();
        let socket = folder.path().join("yoi.sock");
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        let _entered = runtime.enter();
        let at = socket.clone();
        let look = move || at.symlink_metadata().ok().map(|there| (there.permissions().mode() & 0o777, there.ino()));
        let (seen, sees) = std::sync::mpsc::channel();
        let while_binding = look.clone();
        fault::hook::set("after-bind", move || seen.send(while_binding()).unwrap());
        let first = bind(&socket).unwrap();
        assert_eq!(sees.try_recv(), Ok(None), "not before its mode is set");
        assert_eq!(look(), Some((0o600, first.1.1)));
        let second = bind(&socket).unwrap();
        assert_eq!(sees.try_recv(), Ok(Some((0o600, first.1.1))), "the old one until the new one is ready");
        assert_eq!(look(), Some((0o600, second.1.1)));
        assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 1);
    }

    #[test]
    fn a_socket_that_is_removed_or_replaced_is_noticed_when_somebody_says_look() {
        let folder = tempfile::tempdir().unwrap();
        let socket = folder.path().join("yoi.sock");
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        runtime.block_on(async {
            for replace in [true, false] {
                let (_listener, ours) = bind(&socket).unwrap();
                let look = Notify::new();
                look.notify_one();
                let noticed = tokio::time::timeout(Duration::from_millis(50), replaced(&socket, ours, &look));
                assert!(noticed.await.is_err(), "it is there");
                std::fs::remove_file(&socket).unwrap();
                if replace {
                    std::fs::write(&socket, "").unwrap();
                }
                look.notify_one();
                tokio::time::timeout(Duration::from_secs(5), replaced(&socket, ours, &look)).await.unwrap();
                let _ = std::fs::remove_file(&socket);
            }
        });
    }
}
