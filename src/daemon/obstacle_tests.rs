//! Reading goes on when git stays in the middle of something (DESIGN.md 2.3).

use std::fs;
use std::sync::atomic::{AtomicBool, AtomicI64, Ordering};
use std::sync::{Arc, mpsc};

use tempfile::TempDir;

use super::super::{About, Beginning, Ports};
use super::*;
use crate::adapters::processes::SystemProcesses;
use crate::adapters::state_folder::StateFolder;
use crate::adapters::ticket_folder::TicketFolder;
use crate::domain::engine::Reach;
use crate::domain::facts::Dirty;
use crate::domain::policy::Policy;
use crate::domain::ticket::{State, TicketId};
use crate::ports::{MainWorktree, Obstacle};
use crate::text::keys::KeyMap;

#[derive(Default)]
struct Git {
    locked: AtomicBool,
}

impl MainWorktree for Git {
    fn dirty(&self) -> Dirty {
        Dirty::Clean
    }

    fn obstacle(&self) -> Option<Obstacle> {
        self.locked.load(Ordering::Relaxed).then(|| Obstacle { what: "the index is locked".into() })
    }

    fn user_name(&self) -> Option<String> {
        None
    }
}

struct Bench {
    folder: TempDir,
    git: Arc<Git>,
    seconds: Arc<AtomicI64>,
    host: Host,
}

impl Bench {
    fn new() -> Self {
        let folder = TempDir::new().unwrap();
        let (git, seconds) = (Arc::new(Git::default()), Arc::new(AtomicI64::new(0)));
        let clock = Arc::clone(&seconds);
        let ports = Ports {
            tickets: Arc::new(TicketFolder::new(folder.path(), "t", folder.path().join("locks"), KeyMap::default())),
            store: None,
            processes: Arc::new(SystemProcesses::new().unwrap()),
            worktree: Arc::clone(&git) as Arc<dyn MainWorktree>,
            state: Arc::new(StateFolder::new(folder.path().join("state"))),
            clock: Arc::new(move || {
                chrono::DateTime::from_timestamp(2_000_000_000 + clock.load(Ordering::Relaxed), 0).unwrap()
            }),
        };
        fs::create_dir(folder.path().join("t")).unwrap();
        let beginning = Beginning {
            policy: Policy::default(),
            reach: Reach::No("none".into()),
            command: None,
            session: "s".into(),
        };
        let host = Host::daemon(beginning, ports, mpsc::channel(), About::default()).unwrap();
        Self { folder, git, seconds, host }
    }

    fn write(&mut self, state: &str) {
        fs::write(self.folder.path().join("t/a.md"), format!("---\ntitle: a\nstate: {state}\n---\n")).unwrap();
        self.host.tell(Event::PathsNoticed(vec!["t/a.md".into()]));
        self.pass(1);
    }

    /// As the daemon's loop does it, a second at a time.
    fn pass(&mut self, seconds: usize) {
        for _ in 0..seconds {
            self.seconds.fetch_add(1, Ordering::Relaxed);
            self.host.tell(Event::Ticked);
            self.host.resume_put_off();
        }
    }

    fn state(&self) -> Option<State> {
        self.host.engine().backlog().get(&TicketId::new("a")).and_then(|ticket| ticket.state)
    }
}

#[test]
fn what_was_put_off_is_read_a_minute_after_the_last_change() {
    let mut bench = Bench::new();
    bench.write("ready");
    assert_eq!(bench.state(), Some(State::Ready));
    bench.git.locked.store(true, Ordering::Relaxed);
    bench.write("planning");
    bench.pass(55);
    assert_eq!(bench.state(), Some(State::Ready), "nothing is concluded meanwhile");
    bench.pass(10);
    assert_eq!(bench.state(), Some(State::Planning), "reading goes on");
    // A further change is waited out again, and read again.
    bench.write("done");
    bench.pass(50);
    assert_eq!(bench.state(), Some(State::Planning));
    bench.pass(15);
    assert_eq!(bench.state(), Some(State::Done));
    bench.write("ready");
    bench.git.locked.store(false, Ordering::Relaxed);
    bench.pass(2);
    assert_eq!(bench.state(), Some(State::Ready), "at once when it is over");
}
