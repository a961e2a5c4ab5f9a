//! A claiming command that is killed: no lock of its stays, and the ticket can be had by who comes next or, where the dead
//! one had won, be given back under its name.

use std::path::PathBuf;
use std::time::Duration;

use super::*;

/// Every lock file of git's in the repository.
fn locks(stage: &Stage) -> Vec<PathBuf> {
    let git = stage.bench.path("work/.git");
    let is_lock = |path: &PathBuf| path.extension().is_some_and(|end| end == "lock");
    let of_git = |path: &PathBuf| path.starts_with(&git) && !path.starts_with(git.join("yoi"));
    stage.files().into_iter().filter(|path| is_lock(path) && of_git(path)).collect()
}

#[test]
fn a_claim_whose_command_was_killed_keeps_nobody() {
    let stage = stage("");
    for round in 0..8 * rounds() {
        let ticket = format!("t{round}");
        stage.ticket(&ticket, "queued", "");
        let mut claim = stage.bench.command("work");
        claim.args(["claim", &ticket, "--worker", "w"]).stdin(Stdio::null());
        let mut claim = claim.stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
        std::thread::sleep(Duration::from_millis(u64::try_from(1 + round * 7 % 60).unwrap()));
        let _ = claim.kill();
        claim.wait().unwrap();
        let next = stage.yoi(&format!("claim {ticket} --worker v"));
        if next.code == 3 {
            // It had come to its end, and only its last words were missing.
            assert!(next.stderr.contains("held by w (coder)"), "{round}: {next}");
            stage.done(&format!("release {ticket} --worker w --outcome abandoned"));
            stage.done(&format!("claim {ticket} --worker v"));
        } else {
            assert_eq!(next.code, 0, "{round}: {next}");
        }
        assert_eq!(locks(&stage), Vec::<PathBuf>::new(), "{round}");
        assert!(stage.text(&ticket).contains("state: inprogress"), "{round}");
    }
}
