//! A test in a mount namespace of its own, where it may mount what nobody else sees.
//!
//! Must not know: what is mounted.

use std::process::Command;

/// Says to a test that it runs there already.
const INSIDE: &str = "YOI_TEST_NAMESPACE";
/// How a test program ends some of whose tests have failed.
const FAILED: i32 = 101;

/// Runs the test of this name once more, in a process with a namespace and a temporary folder of its own, after this line
/// of sh. Where the system allows none it is skipped, and said so.
pub fn in_its_own(name: &str, prepare: &str, skipped: &str, test: fn()) {
    if std::env::var_os(INSIDE).is_some() {
        return test();
    }
    let folder = tempfile::tempdir().unwrap();
    let script = format!("{prepare} || exit 77; exec \"$@\"");
    let mut notice = String::new();
    for namespace in [&["--mount"][..], &["--mount", "--map-root-user"]] {
        let mut command = Command::new("unshare");
        command.args(namespace).args(["sh", "-c", &script, "sh"]).arg(std::env::current_exe().unwrap());
        command.args(["--exact", name, "--nocapture"]);
        match command.env(INSIDE, "1").env("TMPDIR", folder.path()).output() {
            Ok(output) => {
                let said =
                    format!("{}{}", String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
                assert_ne!(output.status.code(), Some(FAILED), "{said}");
                if output.status.success() {
                    return assert!(said.contains("1 passed"), "{said}");
                }
                notice = said;
            }
            Err(error) => notice = error.to_string(),
        }
    }
    eprintln!("SKIPPED: {skipped}: {}", notice.trim());
}
