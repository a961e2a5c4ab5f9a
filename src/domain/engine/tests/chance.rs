//! Whatever comes in whatever order and at whatever distance: the host's assertions hold at every step, the board equals
//! one built from scratch, and when everybody stops the engine comes to rest with nothing left to say.

use std::collections::BTreeMap;
use std::path::PathBuf;

use chrono::TimeDelta;

use super::super::{Actor, Event, Orders, Reach, TurnOutcome};
use super::host::Host;
use super::scripts::lazy;
use crate::domain::backlog::{Backlog, Entry};
use crate::domain::facts::Dirty;
use crate::domain::kick::{Boundary, Decision};
use crate::domain::policy::{Capacity, KickPolicy, Policy};
use crate::domain::sample::{accepted, ids, queued, texts, ticket, with};
use crate::domain::ticket::State;
use crate::domain::workset::WaitKind;

/// A small generator: the same numbers for the same seed on every machine.
struct Dice(u64);

impl Dice {
    fn roll(&mut self, sides: usize) -> usize {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        usize::try_from(self.0 >> 33).unwrap() % sides
    }

    fn of<T: Copy>(&mut self, all: &[T]) -> T {
        all[self.roll(all.len())]
    }
}

const NAMES: [&str; 4] = ["a", "b", "c", "d"];

fn person(host: &mut Host, dice: &mut Dice, hidden: &mut BTreeMap<PathBuf, Entry>) {
    let name = dice.of(&NAMES);
    let path = format!("tickets/{name}.md");
    if let Some(entry) = hidden.remove(&PathBuf::from(&path)) {
        host.save(&path, Some(entry));
        return;
    }
    match dice.roll(11) {
        0 => host.reword(name),
        1 | 2 => host.queue(name),
        3 => host.edit(name, |t| t.state = Some(State::Ready)),
        4 => host.edit(name, |t| t.state = Some(State::Inprogress)),
        5 => host.edit(name, |t| t.human_gate = t.human_gate.is_none().then(|| "sign-off".into())),
        6 => host.edit(name, |t| t.labels = if t.labels.is_empty() { texts(&["needs-human"]) } else { vec![] }),
        7 => host.write(name, Actor::Somebody("al".into()), |t| t.title.push('!')),
        8 => {
            let (now, state) = (host.now, dice.of(&State::ALL));
            host.write(name, Actor::Somebody("al".into()), |t| {
                t.state = Some(state);
                t.stamps.queued_at = Some(now);
            });
        }
        broken => {
            let file = PathBuf::from(&path);
            hidden.insert(file.clone(), host.files[&file].clone());
            host.save(&path, (broken == 9).then(|| Host::unreadable(name)));
        }
    }
}

fn orchestrator(host: &mut Host, dice: &mut Dice) {
    let name = dice.of(&NAMES);
    let there = host.files.get(&PathBuf::from(format!("tickets/{name}.md")));
    if !matches!(there, Some(Entry::Ticket(_))) {
        return;
    }
    let state = host.ticket(name).state;
    match dice.roll(7) {
        0 => drop(host.order(name, Orders::Plan { order: None })),
        1 => drop(host.order(name, Orders::Wait { kind: dice.of(&WaitKind::ALL), detail: String::new() })),
        2 => drop(host.order(name, Orders::Await { step: "merge".into(), span: TimeDelta::minutes(5) })),
        3 if state == Some(State::Queued) => drop(host.accept(name)),
        4 if state == Some(State::Inprogress) => drop(host.delegate(name, "coder", 60)),
        5 if state == Some(State::Inprogress) => host.done(name),
        _ => host.finish_turn(match dice.roll(4) {
            0 => TurnOutcome::Failed("exit 1".into()),
            1 => TurnOutcome::NotDelivered("no such program".into()),
            _ => TurnOutcome::Succeeded,
        }),
    }
}

fn outside(host: &mut Host, dice: &mut Dice) {
    match dice.roll(8) {
        0 => host.tell(Event::RateLimited(host.now + TimeDelta::seconds(90))),
        1 => host.jump_back(TimeDelta::seconds(dice.of(&[1, 70, 9 * 3600]))),
        2 => host.now += TimeDelta::seconds(dice.of(&[5, 7200])),
        3 => host.restart_at(Reach::Exec, host.now),
        4 => {
            host.dirty = if host.dirty == Dirty::Clean { Dirty::Changed(texts(&["x"])) } else { Dirty::Clean };
            host.tell(Event::GitNoticed);
        }
        5 => host.tell(Event::EverythingNoticed(Some("overflow".into()))),
        _ => host.boundary(dice.of(&Boundary::ALL)),
    }
}

/// So many things happen, then nothing more does.
fn run(seed: u64) {
    let mut dice = Dice(seed);
    let reoffer_idle = seed.is_multiple_of(3).then(|| TimeDelta::minutes(10));
    let kick = KickPolicy { max_items: dice.of(&[1, 2, 10]), reoffer_idle, ..KickPolicy::default() };
    let policy = Policy { kick, capacity: Capacity { max_inprogress: dice.of(&[None, Some(1)]) }, ..Policy::default() };
    let depends = with(ticket("d", State::Ready), |t| t.depends_on = ids(&["a"]));
    let mut host = Host::new(policy, [queued("a"), accepted("b"), queued("c"), depends]);
    let mut hidden = BTreeMap::new();
    for _ in 0..150 {
        match dice.roll(5) {
            0 | 1 => person(&mut host, &mut dice, &mut hidden),
            2 => outside(&mut host, &mut dice),
            _ if host.turn.is_some() => orchestrator(&mut host, &mut dice),
            _ => {}
        }
        host.run_ms(dice.of(&[0, 0, 20, 160, 320, 1_000, 3_000, 70_000, 1_200_000]));
    }
    for (path, entry) in hidden {
        host.save(&path.display().to_string(), Some(entry));
    }
    host.script = Some(lazy);
    if host.turn.is_some() {
        host.finish_turn(TurnOutcome::Succeeded);
    }
    host.dirty = Dirty::Clean;
    host.tell(Event::GitNoticed);
    host.run(48 * 3600);
    let kicks = host.kicks.len();
    host.run(48 * 3600);
    assert_eq!(host.kicks.len(), kicks, "kicks go on although nothing happens");
    assert_eq!(host.engine.next_wake(), None, "nothing is due any more");
    assert_eq!(*host.engine.backlog(), Backlog::of(host.files.clone()), "the board is what the files say");
    let left = host.engine.decide(&[Boundary::OrchestratorIdle], host.now);
    assert!(matches!(left, Decision::Suppress(_)), "lies at rest: {left:?}");
    for it in host.engine.backlog().tickets().filter(|t| t.state == Some(State::Queued)) {
        assert!(it.stamps.queued_at.is_some(), "{} was never stamped", it.id);
    }
}

#[test]
fn whatever_happens_it_comes_to_rest() {
    for seed in 0..100 {
        if let Err(why) = std::panic::catch_unwind(|| run(seed)) {
            eprintln!("seed {seed} failed");
            std::panic::resume_unwind(why);
        }
    }
}
