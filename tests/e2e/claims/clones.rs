//! Claimers in clones of one repository, each by the command: the remote says who has a claim (`[claims] remote`).

use super::*;

const CLONES: [&str; 4] = ["c0", "c1", "c2", "c3"];
const CLAIMERS: usize = 8;

/// A bare repository and its clones.
struct Clones(Bench);

impl Clones {
    fn new() -> Self {
        let bench = Bench::new();
        bench.git("", &["init", "--quiet", "--bare", "server.git"]);
        for clone in CLONES {
            bench.repository(clone);
            bench.git(clone, &["remote", "add", "origin", "../server.git"]);
            let settings = "[gates]\ndirty_workspace = \"off\"\n[claims]\nremote = \"origin\"\n";
            bench.write(&format!("{clone}/.yoi/config.toml"), settings);
        }
        Self(bench)
    }

    fn ticket(&self, id: &str) {
        for clone in CLONES {
            self.0.write(&format!("{clone}/tickets/{id}.md"), &crate::support::stage::ticket_text(id, "queued", ""));
        }
    }
}

/// Ends the daemons, also after a failure.
impl Drop for Clones {
    fn drop(&mut self) {
        for clone in CLONES {
            let mut down = self.0.command(clone);
            let _ = down.arg("down").stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null()).status();
        }
    }
}

#[test]
fn of_the_claimers_in_four_clones_one_wins_and_the_others_are_told_who() {
    let clones = Clones::new();
    let bench = &clones.0;
    for daemons in [false, true] {
        if daemons {
            for clone in CLONES {
                let up = bench.yoi(clone, "up");
                assert_eq!(up.code, 0, "{up}");
            }
        }
        for round in 0..rounds() {
            let ticket = format!("t{round}-{daemons}");
            clones.ticket(&ticket);
            let winner = check(&race(bench, &CLONES, CLAIMERS, &ticket));
            let name = format!("refs/yoi/claims/{ticket}");
            let subjects = bench.git("server.git", &["log", "--format=%s", &name]);
            assert!(subjects.lines().count() == 1 && subjects.contains(&format!("worker={winner} ")), "{subjects}");
            let number: usize = winner[1..].parse().unwrap();
            for (at, clone) in CLONES.iter().enumerate() {
                let state = bench.read(&format!("{clone}/tickets/{ticket}.md"));
                assert_eq!(state.contains("state: inprogress"), at == number % CLONES.len(), "{clone}:\n{state}");
                let late = bench.yoi(clone, &format!("claim {ticket} --worker late"));
                assert!(late.code == 3 && late.stderr.contains(&format!("held by {winner} ")), "{clone}: {late}");
            }
        }
    }
}
