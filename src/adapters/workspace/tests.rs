//! State and socket folders; finding is tested through the program (`tests/cli/workspace.rs`), on git's own layouts.

use std::fs;
use std::os::unix::fs::{PermissionsExt, symlink};

use super::*;

fn environment(current: &Path, runtime: Option<PathBuf>) -> Environment {
    let user = rustix::process::geteuid().as_raw();
    Environment {
        current: current.to_owned(),
        workspace: None,
        home: None,
        state_home: None,
        runtime,
        user,
        login: None,
        editor: None,
    }
}

fn mode(path: &Path) -> u32 {
    path.metadata().unwrap().permissions().mode() & 0o777
}

#[test]
fn the_state_folder_is_private_and_never_a_link() {
    let folder = tempfile::tempdir().unwrap();
    fs::create_dir(folder.path().join(".yoi")).unwrap();
    let workspace = find(&environment(folder.path(), None), None).unwrap();
    assert_eq!(workspace.git_common_dir, None);
    workspace.create_state_dir().unwrap();
    workspace.create_state_dir().unwrap();
    assert_eq!(mode(&folder.path().join(".yoi/run")), 0o700);
    fs::remove_dir(&workspace.state_dir).unwrap();
    symlink(folder.path(), &workspace.state_dir).unwrap();
    assert!(workspace.create_state_dir().unwrap_err().to_string().contains(".yoi/run"), "a link is refused");
}

#[test]
fn a_socket_path_that_would_be_too_long_lies_in_the_runtime_folder() {
    let folder = tempfile::tempdir().unwrap();
    let deep = folder.path().join("d".repeat(100));
    fs::create_dir_all(deep.join(".yoi")).unwrap();
    let runtime = folder.path().join("runtime");
    let with_runtime = environment(&deep, Some(runtime.clone()));
    let workspace = find(&with_runtime, None).unwrap();
    let socket = workspace.socket_path(&with_runtime).unwrap();
    assert!(socket.starts_with(runtime.join("yoi")) && socket.as_os_str().len() <= LONGEST_SOCKET, "{socket:?}");
    assert_eq!(mode(&runtime.join("yoi")), 0o700);
    assert_eq!(socket, workspace.socket_path(&with_runtime).unwrap(), "the same every time");

    let short = Workspace { state_dir: PathBuf::from("/s"), ..workspace.clone() };
    assert_eq!(short.socket_path(&with_runtime).unwrap(), Path::new("/s/yoi.sock"));

    fs::set_permissions(runtime.join("yoi"), fs::Permissions::from_mode(0o755)).unwrap();
    assert!(workspace.socket_path(&with_runtime).unwrap_err().to_string().contains("alone"), "open to others");
    let stranger = Environment { user: with_runtime.user + 1, ..with_runtime };
    fs::set_permissions(runtime.join("yoi"), fs::Permissions::from_mode(0o700)).unwrap();
    assert!(workspace.socket_path(&stranger).unwrap_err().to_string().contains("alone"), "somebody else's");
}

#[test]
fn a_configuration_that_came_in_the_last_moment_is_not_written_over() {
    let folder = tempfile::tempdir().unwrap();
    let root = folder.path().canonicalize().unwrap();
    let file = root.join(crate::config::FILE);
    let other = file.clone();
    crate::adapters::fault::hook::set("before-new", move || fs::write(&other, "theirs").unwrap());
    let made = create(&root, Path::new("tickets"), "ours");
    assert!(matches!(made, Err(CreateError::ConfigExists(_))), "{made:?}");
    assert_eq!(fs::read_to_string(file).unwrap(), "theirs");
}
