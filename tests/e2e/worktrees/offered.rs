//! Who works in the worktree of a queued ticket keeps it from being offered, and no longer than that.

use std::process::{Child, Stdio};

use crate::support::stage::Stage;

/// Lives until it is dropped.
struct Process(Child);

impl Drop for Process {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// Nobody tells a daemon that a process has ended, and nothing else happens here that it would look for.
#[test]
fn what_somebody_works_on_is_offered_when_he_is_gone_with_a_daemon_and_without() {
    for daemon in [false, true] {
        let stage = Stage::new();
        let bench = &stage.bench;
        bench.write("work/.yoi/config.toml", "[dispatch]\nmode = \"pull\"\n[gates]\ndirty_workspace = \"off\"\n");
        stage.ticket("a", "queued", "");
        bench.git("work", &["commit", "--quiet", "--allow-empty", "--message=first"]);
        bench.git("work", &["worktree", "add", "--quiet", "-b", "yoi/a", ".yoi/worktrees/a"]);
        let sleep = || bench.program("sleep", "work/.yoi/worktrees/a").arg("600").stdin(Stdio::null()).spawn();
        let inside = Process(sleep().unwrap());
        if daemon {
            stage.start();
        }
        let idle = stage.yoi("next");
        let working = format!("a live process works in its worktree (pid {})", inside.0.id());
        assert!(idle.code == 3 && idle.to_string().contains(&working), "daemon: {daemon}: {idle}");
        drop(inside);
        let free = stage.json("next");
        assert_eq!(free["ticket"]["id"], "a", "daemon: {daemon}: {free}");
    }
}
