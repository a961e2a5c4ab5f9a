//! A claim over the time, with a keeper that answers as it is told.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex};

use tempfile::TempDir;

use super::*;
use crate::domain::claim::Hold;

const MINUTE: Duration = Duration::from_mins(1);
/// Nothing was printed ever.
const SILENT: Duration = Duration::from_hours(1000);

#[derive(Default)]
struct Answers {
    looks: VecDeque<Hold>,
    renewals: VecDeque<Result<Hold, String>>,
    renewed: usize,
    released: Vec<String>,
}

struct Fake(Arc<Mutex<Answers>>);

impl Keeper for Fake {
    fn look(&mut self) -> Option<Hold> {
        self.0.lock().unwrap().looks.pop_front()
    }

    fn renew(&mut self, _process: &ProcessIdentity) -> Result<Hold, String> {
        let mut answers = self.0.lock().unwrap();
        answers.renewed += 1;
        answers.renewals.pop_front().unwrap_or(Ok(Hold::Own))
    }

    fn release(&mut self, why: &str) -> Result<(), String> {
        self.0.lock().unwrap().released.push(why.to_owned());
        Ok(())
    }
}

struct Bench {
    folder: TempDir,
    answers: Arc<Mutex<Answers>>,
    guard: Guard,
    began: Instant,
}

impl Bench {
    fn new() -> Self {
        let folder = TempDir::new().unwrap();
        let files = RunFiles::of(&folder.path().join("pod-x.json")).unwrap();
        let answers: Arc<Mutex<Answers>> = Arc::default();
        let upkeep = Upkeep { ttl: 90 * MINUTE, every: 15 * MINUTE };
        let mut guard = Guard::new(Box::new(Fake(Arc::clone(&answers))), upkeep, files);
        let began = Instant::now();
        // Nobody has this number, so that nothing is measured of it.
        let program = ProcessIdentity { host: "h".into(), boot_id: "b".into(), pid: u32::MAX, started: 1 };
        guard.begin(program, began);
        Self { folder, answers, guard, began }
    }

    fn look(&mut self, minutes: u32, quiet: Duration) -> Result<Duration, How> {
        self.guard.look(quiet, self.began + minutes * MINUTE)
    }

    fn renewed(&self) -> usize {
        self.answers.lock().unwrap().renewed
    }

    fn will_be(&self, hold: Hold) {
        self.answers.lock().unwrap().looks.push_back(hold);
    }

    fn will_renew(&self, answer: Result<Hold, &str>) {
        self.answers.lock().unwrap().renewals.push_back(answer.map_err(str::to_owned));
    }
}

#[test]
fn it_is_renewed_at_the_begin_and_while_something_is_printed() {
    let mut bench = Bench::new();
    assert_eq!(bench.renewed(), 1);
    assert_eq!(bench.look(14, Duration::ZERO), Ok(MINUTE));
    assert_eq!(bench.look(15, Duration::ZERO), Ok(SOON));
    assert_eq!(bench.renewed(), 2);
    assert_eq!(bench.look(29, 20 * MINUTE), Ok(MINUTE));
    // What was printed before the last beat says nothing.
    assert_eq!(bench.look(35, 21 * MINUTE), Ok(MINUTE));
    assert_eq!(bench.renewed(), 2);
    // Its own heartbeat is as good.
    bench.will_be(Hold::Own);
    assert_eq!(bench.look(36, SILENT), Ok(15 * MINUTE));
    assert_eq!(
        bench.look(126, SILENT),
        Err(How::ClaimLost("it showed no sign of life for 90 minutes, and its claim ran out".into()))
    );
    bench.guard.give_up("x");
    assert_eq!(bench.answers.lock().unwrap().released, ["x"]);
}

#[test]
fn what_cannot_be_renewed_is_tried_again_until_it_runs_out() {
    let mut bench = Bench::new();
    for minute in 15..40 {
        bench.will_renew(Err("no route to host"));
        assert_eq!(bench.look(minute, Duration::ZERO), Ok(SOON), "{minute}");
    }
    assert_eq!(bench.look(40, Duration::ZERO), Ok(SOON));
    assert_eq!((bench.renewed(), bench.look(41, Duration::ZERO)), (27, Ok(14 * MINUTE)), "and then it holds again");
    for minute in 55..130 {
        bench.will_renew(Err("no route to host"));
        assert_eq!(bench.look(minute, Duration::ZERO), Ok(SOON), "{minute}");
    }
    let lost = bench.look(130, Duration::ZERO).unwrap_err();
    assert_eq!(lost, How::ClaimLost("its claim could not be renewed for 90 minutes: no route to host".into()));
}

#[test]
fn a_lost_claim_ends_it_at_once_and_is_not_given_up() {
    for by_look in [true, false] {
        let mut bench = Bench::new();
        if by_look {
            bench.will_be(Hold::Lost("v has it".into()));
        } else {
            bench.will_renew(Ok(Hold::Lost("v has it".into())));
        }
        assert_eq!(bench.look(15, Duration::ZERO), Err(How::ClaimLost("v has it".into())));
        bench.guard.give_up("x");
        assert!(bench.answers.lock().unwrap().released.is_empty());
    }
}

#[test]
fn whoever_has_ended_its_claim_has_a_minute_for_its_last_words() {
    let mut bench = Bench::new();
    bench.will_be(Hold::Ended("done".into()));
    assert_eq!(bench.look(3, Duration::ZERO), Ok(WINDING_UP));
    // The verb that ended it took the ticket out of `inprogress`, too: that makes it no shorter.
    std::fs::write(bench.folder.path().join("pod-x.off"), "\"alice moved it\"").unwrap();
    assert_eq!(bench.look(3, Duration::ZERO), Ok(WINDING_UP));
    assert_eq!(bench.look(4, Duration::ZERO), Err(How::Over("done".into())));
    bench.guard.give_up("x");
    assert!(bench.answers.lock().unwrap().released.is_empty());
}

#[test]
fn whoever_is_called_off_has_some_seconds_and_its_claim_is_given_up() {
    let mut bench = Bench::new();
    std::fs::write(bench.folder.path().join("pod-x.off"), "\"alice moved it\"").unwrap();
    assert_eq!(bench.look(1, Duration::ZERO), Ok(CALLED_OFF));
    // However long its supervisor was asleep.
    assert_eq!(bench.look(200, Duration::ZERO), Err(How::Over("alice moved it".into())));
    bench.guard.give_up("x");
    assert_eq!(bench.answers.lock().unwrap().released, ["x"]);
}
