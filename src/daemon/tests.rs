//! The host between an inbox and fake ports, on a clock of its own: what it puts off, joins, and leaves alone.

mod bench;

use std::path::PathBuf;

use bench::Bench;

use super::Message;
use crate::domain::sample::{queued, ticket};
use crate::domain::ticket::State;

#[test]
fn under_an_obstacle_that_stays_reading_goes_on_after_a_minute() {
    let mut bench = Bench::new([ticket("a", State::Ready)]);
    bench.obstacle(Some("a rebase is under way"));
    bench.save(queued("a"));
    assert_eq!(bench.state("a"), Some(State::Ready), "nothing is concluded meanwhile");
    bench.pass(61);
    assert_eq!(bench.state("a"), Some(State::Queued), "reading has gone on");
    bench.save(ticket("a", State::Planning));
    assert_eq!(bench.state("a"), Some(State::Planning), "and goes on for what changes later");
}

#[test]
fn notices_of_one_kind_that_wait_in_the_inbox_are_one() {
    let mut bench = Bench::new([queued("a")]);
    let (scans, probes) = (bench.scans(), bench.probes());
    for _ in 0..50 {
        bench.mail(Message::Everything(Some("the watcher's queue overflowed".into())));
        bench.mail(Message::Git);
    }
    bench.mail(Message::Paths(vec![PathBuf::from("tickets/a.md")]));
    bench.work();
    assert_eq!((bench.scans() - scans, bench.probes() - probes), (1, 1));
}
