//! The rules about worktrees, as tables.

use super::*;
use crate::domain::sample::at;

fn tree(lock: Lock) -> Tree {
    let branch = Some(branch_of("a"));
    Tree { name: "a".into(), path: "/w/a".into(), head: Some("12ab".into()), branch, lock, gone: None }
}

fn hold(worker: &str) -> Lock {
    Lock::Held(Hold { worker: worker.into(), until: at(100), retained_for: None })
}

fn retained(owner: &str) -> Lock {
    Lock::Held(Hold { worker: owner.into(), until: at(100), retained_for: Some("the logs".into()) })
}

#[test]
fn a_reason_is_read_as_it_was_written_and_anything_else_is_somebody_elses() {
    for worker in ["coder-1", "a until b", "w\u{65e5}", "  x"] {
        let hold = Hold { worker: worker.into(), until: at(0), retained_for: None };
        assert_eq!(Lock::of(&hold.reason()), Lock::Held(hold), "{worker}");
    }
    let broken = Hold { worker: "a\nb".into(), until: at(0), retained_for: None };
    assert!(!broken.reason().contains('\n'));
    for (worker, why) in [("ana", "the logs"), ("a until b", "x: y until z"), ("\u{65e5}", "\u{65e5}")] {
        let hold = Hold { worker: worker.into(), until: at(0), retained_for: Some(why.into()) };
        assert_eq!(Lock::of(&hold.reason()), Lock::Held(hold.clone()), "{}", hold.reason());
    }
    for reason in [
        "",
        "mine",
        "yoi: retained by x until 2026-11-30T09:00:00Z",
        "yoi: retained by x: y",
        "yoi: held by x",
        "yoi: held by x until tomorrow",
    ] {
        assert_eq!(Lock::of(reason), Lock::Foreign(reason.into()));
    }
}

#[test]
fn who_may_use_and_whom_a_lock_keeps_from_removing() {
    for (lock, worker, now, uses, removes) in [
        (Lock::Open, "w", 0, true, true),
        (hold("w"), "w", 0, true, true),
        (hold("other"), "w", 99, true, false),
        (hold("other"), "w", 100, true, true),
        (retained("w"), "w", 0, true, true),
        (retained("other"), "w", 99, false, false),
        (retained("other"), "w", 100, true, true),
        (Lock::Foreign("mine".into()), "w", 1000, false, false),
    ] {
        let tree = tree(lock);
        assert_eq!(may_use(&tree, worker, at(now)).is_ok(), uses, "{:?}", tree.lock);
        let removal = may_remove(&tree, &Probe::default(), (Some(worker), None), false, at(now));
        assert_eq!(removal.is_ok(), removes, "{:?}", tree.lock);
        assert_eq!(
            may_remove(&tree, &Probe::default(), (Some(worker), None), true, at(now)).is_ok(),
            removes,
            "by force"
        );
    }
    let gone = Tree { gone: Some("not there".into()), ..tree(Lock::Open) };
    assert!(may_use(&gone, "w", at(0)).is_err());
}

#[test]
fn force_saves_what_can_be_saved_and_passes_over_nothing_else() {
    let named = || ["x".to_owned()].into_iter().collect::<Named>();
    let savable = [
        Probe { changed: named(), ..Probe::default() },
        Probe { untracked: named(), ..Probe::default() },
        Probe { ignored: named(), ..Probe::default() },
        Probe { stashes: 1, ..Probe::default() },
        Probe { under_way: vec!["a merge".into()], ..Probe::default() },
        Probe { commits: Commits::Alone(named()), ..Probe::default() },
    ];
    let lost = [
        Probe { submodules: named(), ..Probe::default() },
        Probe { nested: named(), ..Probe::default() },
        Probe { odd: named(), ..Probe::default() },
        Probe { occupants: vec![Occupant { pid: 1, program: "sh".into(), open: None }], ..Probe::default() },
        Probe::unreadable("it is damaged"),
    ];
    let judge = |probe: &Probe, force| may_remove(&tree(Lock::Open), probe, (None, None), force, at(0));
    for probe in &savable {
        assert_eq!(judge(probe, false).unwrap_err().evidence.len(), 1, "{probe:?}");
        let removal = judge(probe, true).unwrap();
        assert!(removal.salvage && removal.passed_over.len() == 1, "{probe:?}");
    }
    for probe in &lost {
        for force in [false, true] {
            let refusal = judge(probe, force).unwrap_err();
            assert!(refusal.evidence.len() == 1 && refusal.hint.is_some(), "{probe:?}");
        }
    }
    assert!(Probe::unreadable("x").is_dirty(), "what cannot be looked at counts as dirty");
    for (merged, drops) in [(None, false), (Some(false), false), (Some(true), true)] {
        let probe = Probe { branch_merged: merged, commits: Commits::Pushed, ..Probe::default() };
        let removal = judge(&probe, false).unwrap();
        assert!(!removal.salvage && removal.drop_branch == drops);
    }
}

#[test]
fn many_are_named_by_the_first_few() {
    let named: Named = (1..=8).map(|number| number.to_string()).collect();
    assert_eq!(named.to_string(), "1, 2, 3, 4, 5 and 3 more");
}

#[test]
fn what_a_run_that_was_cut_off_leaves_to_do() {
    let left = |entry, folder, pristine, aside| Left { entry, folder, pristine, aside };
    let saving = |salvage: Option<&str>| Phase::Saving { salvage: salvage.map(str::to_owned), aside: "/w/x".into() };
    let going = Phase::Going { aside: "/w/x".into(), branch: None };
    for (phase, left, wanted, expected) in [
        (Phase::Making, left(false, false, true, false), true, Mend::Undo),
        (Phase::Making, left(true, true, true, false), true, Mend::Undo),
        (Phase::Making, left(true, true, false, false), false, Mend::Adopt),
        (Phase::Made, left(true, true, true, false), true, Mend::Adopt),
        (Phase::Made, left(true, true, true, false), false, Mend::Undo),
        (Phase::Made, left(true, true, false, false), false, Mend::Adopt),
        (Phase::Made, left(true, false, true, false), true, Mend::Undo),
        (Phase::Restoring, left(true, true, true, false), false, Mend::Undo),
        (Phase::Restoring, left(true, true, false, false), false, Mend::Adopt),
        (Phase::Undoing, left(true, true, true, false), true, Mend::Undo),
        (Phase::Undoing, left(true, false, false, false), true, Mend::Undo),
        // Somebody has written into it since that was decided.
        (Phase::Undoing, left(true, true, false, false), true, Mend::Adopt),
        (saving(None), left(true, true, false, false), false, Mend::Forget),
        (saving(Some("r")), left(true, true, false, false), false, Mend::PutBack),
        (saving(Some("r")), left(true, false, false, true), false, Mend::PutBack),
        (saving(None), left(true, false, false, true), false, Mend::PutBack),
        (saving(Some("r")), left(true, true, false, true), false, Mend::Blocked),
        (going.clone(), left(true, false, false, true), true, Mend::Finish),
        (going, left(false, false, false, false), false, Mend::Finish),
    ] {
        let journal = Journal::new("a", "/w/a".into(), phase, at(0));
        assert_eq!(journal.mend(&left, wanted), expected, "{:?} {left:?} {wanted}", journal.phase);
    }
}

#[test]
fn a_journal_is_read_as_it_was_written() {
    let phase = Phase::Saving { salvage: None, aside: "/w/x".into() };
    let mut journal = Journal::new("a", "/w/a".into(), phase, at(0));
    journal.made.branch = Some(BranchAt { name: branch_of("a"), at: "12ab".into() });
    let text = serde_json::to_string(&journal).unwrap();
    assert_eq!(serde_json::from_str::<Journal>(&text).unwrap(), journal);
}

#[test]
fn a_name_says_its_id_unless_it_was_cut() {
    for id in ["a", "a b", "\u{65e5}\u{672c}", "v1.2", "a..b", "@{", "x.lock", "-x", "", "%", "a%20b"] {
        assert_eq!(name::id_of(&name::of(&id.into())), Some(id.into()), "{id:?}");
    }
    for name in ["%", "%zz", "a%2", "a%41", "a b", &name::of(&TicketId::new("\u{65e5}".repeat(100)))] {
        let id = name::id_of(name);
        assert!(id.is_none() || name == "%" && id == Some("".into()), "{name:?}");
    }
}
