//! A session that is busy without a sign of life (DESIGN.md 5.1): shown, taken as idle, and told what is new; and
//! one that is woken.

use super::super::{Event, RecordKind};
use super::host::Host;
use super::sessions::{PROMPT, START, STOP, TOOL, busy, contact, host, pending, waking};
use crate::domain::policy::Policy;
use crate::domain::sample::{queued, ticket};
use crate::domain::ticket::State;

#[test]
fn a_session_that_is_silent_for_too_long_is_shown_once_and_counts_as_idle_for_waking() {
    let mut host = host(waking(), [ticket("a", State::Ready)]);
    contact(&mut host, START);
    contact(&mut host, PROMPT);
    host.queue("a");
    host.run(20 * 60);
    contact(&mut host, TOOL);
    host.run(20 * 60);
    assert!(host.woken.is_empty() && host.count(RecordKind::Alert) == 0, "tool hooks are signs of life");
    host.run(10 * 60);
    assert_eq!((host.woken.len(), host.count(RecordKind::Alert)), (1, 1));
    assert!(host.engine.session.as_ref().unwrap().silent && pending(&host));
    host.tell(Event::WakeEnded { number: 1, failed: None });
    assert_eq!(contact(&mut host, PROMPT), "a", "a new turn; the old one is over");
    assert!(busy(&host) && !host.engine.session.as_ref().unwrap().silent);
    host.run(31 * 60);
    assert_eq!(host.count(RecordKind::Alert), 2, "once for each silence");
}

/// Nothing else would bring it up: the end of a turn that was interrupted is told by nobody.
#[test]
fn an_edit_beside_a_silent_session_is_news_for_its_next_contact() {
    let mut host = host(Policy::default(), [queued("a")]);
    for next in [START, PROMPT, STOP, PROMPT] {
        contact(&mut host, next);
    }
    host.run(1_800);
    assert!(host.engine.session.as_ref().unwrap().silent && !pending(&host), "it has seen all there is");
    host.reword("a");
    host.run(60);
    assert!(pending(&host));
    assert_eq!(contact(&mut host, PROMPT), "a");
}

#[test]
fn the_end_of_an_older_wake_is_no_answer_to_the_one_that_runs() {
    let mut host = host(waking(), [queued("a")]);
    contact(&mut host, START);
    let fails = |host: &mut Host, number| {
        host.tell(Event::WakeEnded { number, failed: Some("no such pane".into()) });
        host.run(11);
        host.engine.session.as_ref().unwrap().waking.failures
    };
    assert_eq!(host.woken, [1]);
    assert_eq!(fails(&mut host, 1), 1);
    assert_eq!(host.woken, [1, 2]);
    assert_eq!(fails(&mut host, 1), 1, "that was told before");
    assert_eq!(fails(&mut host, 2), 2);
}
