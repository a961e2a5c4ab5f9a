//! A test in a namespace of its own, where it may mount what nobody else sees, or have a network that nobody else is on.
//!
//! Must not know: what is mounted, which hosts there are.

use std::process::Command;

/// Says to a test that it runs there already.
const INSIDE: &str = "YOI_TEST_NAMESPACE";
/// How a test program ends some of whose tests have failed.
const FAILED: i32 = 101;

/// Runs the test of this name once more, in a process with a namespace and a temporary folder of its own, after this line
/// of sh. Where the system allows none it is skipped, and said so.
pub fn in_its_own(name: &str, prepare: &str, skipped: &str, test: fn()) {
    in_one("--mount", name, prepare, skipped, test);
}

/// The same with a network of its own.
pub fn in_its_own_network(name: &str, prepare: &str, skipped: &str, test: fn()) {
    in_one("--net", name, prepare, skipped, test);
}

fn in_one(kind: &str, name: &str, prepare: &str, skipped: &str, test: fn()) {
    if std::env::var_os(INSIDE).is_some() {
        return test();
    }
    let folder = tempfile::tempdir().unwrap();
    let script = format!("{prepare} || exit 77; exec \"$@\"");
    let mut notice = String::new();
    for namespace in [&[kind][..], &[kind, "--map-root-user"]] {
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
