//! Checkouts of many tickets, and how long after them the daemon knows them all.
//!
//! Must not know: how a table looks.

use std::thread;
use std::time::{Duration, Instant};

use crate::backlog::{Backlog, Side};
use crate::measure::median;
use crate::resident::{Fallible, Resident};

/// What checkouts of one size led to.
pub struct Settled {
    /// From the end of a checkout until all is known.
    pub after: Duration,
    /// The longest.
    pub longest: Duration,
    /// From the moment at which a daemon that slept through a checkout goes on.
    pub suspended: Duration,
}

/// Checks so many tickets out, back and forth, and once each way while the daemon is stopped.
pub fn checkouts(backlog: &Backlog, daemon: &Resident<'_>, number: usize, rounds: usize) -> Fallible<Settled> {
    let mut side = Side::Left;
    let mut times = Vec::new();
    for _ in 0..rounds {
        let former = side;
        side = side.other();
        backlog.checkout(side, number)?;
        times.push(daemon.settled(former.labels_of(number), Instant::now())?);
        // The next is a burst of its own.
        thread::sleep(Duration::from_millis(500));
    }
    let mut suspended = Vec::new();
    while suspended.len() < 2 || side != Side::Left {
        let former = side;
        side = side.other();
        daemon.suspend(true);
        let done = backlog.checkout(side, number);
        daemon.suspend(false);
        let begun = Instant::now();
        done?;
        suspended.push(daemon.settled(former.labels_of(number), begun)?);
        thread::sleep(Duration::from_millis(500));
    }
    let after = median(&mut times);
    let longest = times.last().copied().unwrap_or_default();
    Ok(Settled { after, longest, suspended: median(&mut suspended) })
}
