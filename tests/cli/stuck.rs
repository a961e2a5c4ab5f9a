//! A daemon that has its lock and gives no answer.

use std::fs::File;
use std::os::unix::net::UnixListener;

use crate::support::Bench;

#[test]
fn a_daemon_that_hangs_is_a_failure_and_nobody_goes_the_direct_way() {
    let bench = Bench::with_git();
    bench.write("work/.yoi/config.toml", "");
    let ticket = "---\ntitle: A\nstate: ready\n---\n";
    bench.write("work/tickets/a.md", ticket);
    bench.write("work/.git/yoi/daemon.lock", "");
    let lock = File::open(bench.path("work/.git/yoi/daemon.lock")).unwrap();
    lock.lock().unwrap();
    // The kernel takes connections for whoever listens, also if nobody ever looks at them.
    let _listening = UnixListener::bind(bench.path("work/.git/yoi/yoi.sock")).unwrap();
    let answer = bench.yoi("work", "move a queued");
    assert!(answer.code == 1 && answer.stderr.contains("did not answer within 5 s"), "{answer}");
    assert_eq!(std::fs::read_to_string(bench.path("work/tickets/a.md")).unwrap(), ticket);
}
