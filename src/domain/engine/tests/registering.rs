//! By which reports a session becomes the Orchestrator's, and which count as its own (DESIGN.md 5.1).

use super::super::{Admission, Contact, Event, RecordKind, Registers, SessionReport, Way};
use super::host::Host;
use super::sessions::{PROMPT, START, STOP, TOOL, contact, host, pending, process, report, says, waking};
use crate::domain::explain::reached;
use crate::domain::policy::Policy;
use crate::domain::sample::queued;

/// What `yoi hook EVENT --session NAME` says.
fn by_name(name: &str) -> SessionReport {
    SessionReport { process: None, registers: Registers::IfWatched, ..report(name, 1) }
}

fn stream(name: &str, pid: u32) -> SessionReport {
    SessionReport { way: Way::Stream, ..report(name, pid) }
}

fn live(host: &Host) -> Option<(&str, Way)> {
    host.engine.session.as_ref().map(|session| (session.id.as_str(), session.way))
}

#[test]
fn a_report_by_name_registers_nobody_whose_end_would_go_unnoticed() {
    let mut host = host(Policy::default(), [queued("a")]);
    let failed = || Contact::Failed { why: "x".into(), jitter: 0 };
    for contact in [START, STOP, PROMPT, TOOL, failed(), Contact::Compacted, Contact::Ended] {
        let Admission::Unwatched(refusal) = host.engine.admit(&by_name("mine")) else { panic!("{contact:?}") };
        assert!(refusal.hint.unwrap().contains("`yoi orchestrator watch --session mine`"));
        assert_eq!(says(&mut host, by_name("mine"), contact), "");
        assert!(live(&host).is_none() && host.count(RecordKind::AgentStarted) == 0);
    }
    // With a process it is known when it ends; and what is registered is reported of by its name.
    let with_process = SessionReport { registers: Registers::IfWatched, ..report("mine", 1) };
    assert_eq!(host.engine.admit(&with_process), Admission::New);
    says(&mut host, stream("mine", 2), START);
    assert_eq!(host.engine.admit(&by_name("mine")), Admission::Known);
    says(&mut host, by_name("mine"), Contact::Ended);
    assert!(live(&host).is_none());
    // The way that is meant to register does so without a process too: an agent may be the only one there is.
    assert_eq!(host.engine.admit(&SessionReport { process: None, ..report("s", 1) }), Admission::New);
}

#[test]
fn a_reader_takes_the_place_of_a_session_of_its_name_of_which_nobody_can_tell_whether_it_lives() {
    let mut host = host(Policy::default(), [queued("a")]);
    says(&mut host, SessionReport { process: None, ..report("mine", 1) }, START);
    host.run(3);
    let Admission::Refused(refusal) = host.engine.admit(&stream("other", 2)) else { panic!("under another name") };
    assert!(refusal.hint.unwrap().contains("`yoi hook gone --session mine`"));
    says(&mut host, stream("mine", 2), Contact::Started { resumed: false, takes: false });
    host.run(3);
    assert_eq!(live(&host), Some(("mine", Way::Stream)));
    assert_eq!((host.count(RecordKind::AgentStarted), host.count(RecordKind::AgentEnded)), (2, 1));
    // A second one is not taken for it, nor is one whose process lives.
    assert_eq!(host.engine.admit(&stream("mine", 2)), Admission::Known);
    assert!(matches!(host.engine.admit(&stream("mine", 3)), Admission::Elsewhere(_)));
}

#[test]
fn a_report_counts_that_comes_from_below_the_sessions_process_under_its_own_name() {
    let mut host = host(waking(), [queued("a")]);
    contact(&mut host, START);
    let below = |name: &str| SessionReport { above: vec![process(7), process(1)], ..report(name, 7) };
    assert_eq!(host.engine.admit(&below("s")), Admission::Known);
    let nobody_said_so = SessionReport { registers: Registers::Never, ..below("s") };
    assert_eq!(host.engine.admit(&nobody_said_so), Admission::Known);
    // An agent that the Orchestrator itself started has a session of its own.
    assert!(matches!(host.engine.admit(&below("t")), Admission::Refused(_)));
    assert_eq!((says(&mut host, below("t"), START), host.count(RecordKind::Inbox)), (String::new(), 0), "no rival");
    let of_it = SessionReport { registers: Registers::Never, ..below("t") };
    assert_eq!(host.engine.admit(&of_it), Admission::Stranger);
    says(&mut host, below("s"), PROMPT);
    host.tell(Event::SessionProcessEnded(process(7)));
    assert_eq!(live(&host), Some(("s", Way::Attached)), "it lives in its own process");
}

/// Codex has a thread of its own think of a title, and tells of its end like of any other's.
#[test]
fn a_mere_sign_of_life_registers_nobody() {
    let mut host = host(Policy::default(), [queued("a")]);
    let beside = || Contact::Active { own: false };
    says(&mut host, report("title", 1), beside());
    assert_eq!(live(&host), None);
    contact(&mut host, START);
    says(&mut host, report("title", 1), beside());
    assert_eq!(live(&host), Some(("s", Way::Attached)));
    // A turn of its own is another conversation.
    says(&mut host, report("next", 1), TOOL);
    assert_eq!(live(&host), Some(("next", Way::Attached)));
}

#[test]
fn a_report_from_elsewhere_is_ignored_and_said_so() {
    let mut host = host(Policy::default(), [queued("a")]);
    contact(&mut host, START);
    contact(&mut host, Contact::Started { resumed: true, takes: false });
    assert!(pending(&host));
    let elsewhere = SessionReport {
        program: Some("python3".into()),
        above: vec![process(9)],
        registers: Registers::Never,
        ..report("s", 9)
    };
    for _ in 0..3 {
        assert_eq!(says(&mut host, elsewhere.clone(), PROMPT), "");
    }
    let inbox = |host: &Host| host.records.iter().filter(|r| r.kind == RecordKind::Inbox).count();
    assert_eq!(inbox(&host), 1, "once");
    let said = reached(host.engine.session.as_ref().unwrap(), false).join(" ");
    let sentence = "a report of session `s` came from another process, pid 9 (python3), and was ignored: the session lives in process 1";
    assert!(said.contains("A kick is pending") && said.contains(sentence), "{said}");
}

/// A report by a hook that runs in process `first`, below the others.
fn from(name: &str, first: u32, below: &[u32]) -> SessionReport {
    let above = std::iter::once(&first).chain(below).map(|pid| process(*pid)).collect();
    SessionReport { above, guessed: true, ..report(name, first) }
}

fn ends(host: &mut Host, pid: u32) {
    host.tell(Event::SessionProcessEnded(process(pid)));
}

fn pid(host: &Host) -> Option<u32> {
    host.engine.session.as_ref()?.process.as_ref().map(|process| process.pid)
}

/// The agent is 5, in terminal 3; its hooks are run by something that ends with each of them.
#[test]
fn a_session_lives_in_what_its_hooks_have_in_common_and_not_in_what_runs_one_of_them() {
    let mut host = host(Policy::default(), [queued("a")]);
    says(&mut host, from("s", 11, &[5, 3]), START);
    ends(&mut host, 11);
    host.run(30);
    assert_eq!(live(&host), Some(("s", Way::Attached)), "it may report again");
    let said = reached(host.engine.session.as_ref().unwrap(), false).join(" ");
    assert!(said.contains("if it does not report again until "), "{said}");
    assert!(matches!(host.engine.admit(&from("t", 12, &[6, 3])), Admission::Refused(_)), "nobody takes its place yet");
    says(&mut host, from("s", 12, &[5, 3]), PROMPT);
    assert_eq!(pid(&host), Some(5));
    ends(&mut host, 12);
    host.run(600);
    assert!(live(&host).is_some() && host.count(RecordKind::AgentEnded) == 0, "its own process has not ended");
    assert_eq!(host.engine.admit(&from("s", 13, &[5, 3])), Admission::Known);
    assert!(matches!(host.engine.admit(&from("s", 14, &[6, 3])), Admission::Elsewhere(_)));
    says(&mut host, from("s", 13, &[5, 3]), STOP);
    ends(&mut host, 5);
    assert!(live(&host).is_none(), "this is it, however soon after a report");
}

#[test]
fn one_that_does_not_report_again_in_time_is_gone_and_comes_back_to_its_own_process() {
    for registers in [Registers::Always, Registers::Never] {
        let mut host = host(Policy::default(), [queued("a")]);
        says(&mut host, from("s", 11, &[5, 3]), PROMPT);
        host.plan("a");
        ends(&mut host, 11);
        host.run(61);
        assert_eq!((live(&host), host.saved.failures), (None, 0), "nobody knows how the turn ended");
        // Meanwhile nobody who has nothing to do with it comes in by its name.
        let other = |first: u32, below: &[u32]| SessionReport { registers, ..from("s", first, below) };
        if registers == Registers::Never {
            assert_eq!(host.engine.admit(&other(21, &[6])), Admission::Stranger);
        }
        host.run(3600);
        says(&mut host, other(12, &[5, 3]), STOP);
        assert_eq!((live(&host).map(|(id, _)| id), pid(&host)), (Some("s"), Some(5)), "{registers:?}");
        assert!(host.engine.work_set().get(&"a".into()).is_some(), "with its notes");
        ends(&mut host, 5);
        assert!(live(&host).is_none());
    }
}

/// Hooks that are run detached tell nothing of where the session lives; but it does.
#[test]
fn one_that_reports_from_nowhere_is_waited_for_on_and_on() {
    let mut host = host(Policy::default(), [queued("a")]);
    says(&mut host, from("s", 11, &[5, 3]), PROMPT);
    ends(&mut host, 11);
    for _ in 0..10 {
        host.run(50);
        says(&mut host, by_name("s"), TOOL);
    }
    assert_eq!(live(&host), Some(("s", Way::Attached)));
    host.run(61);
    assert!(live(&host).is_none());
}

/// What a start has in common with the agent before is the terminal, which must not become the Orchestrator.
#[test]
fn an_agent_that_starts_lives_in_a_process_of_its_own() {
    let mut host = host(Policy::default(), [queued("a")]);
    let resumed = || Contact::Started { resumed: true, takes: true };
    says(&mut host, from("s", 5, &[3]), STOP);
    ends(&mut host, 5);
    says(&mut host, from("s", 6, &[3]), resumed());
    assert_eq!(pid(&host), Some(6), "while it is waited for");
    ends(&mut host, 6);
    host.run(61);
    says(&mut host, from("s", 7, &[3]), resumed());
    assert_eq!(pid(&host), Some(7), "and later");
    host.run(6);
    ends(&mut host, 7);
    assert!(live(&host).is_none(), "not so soon after a hook that the hook could be the reason");
    // Of one that a person attached, the next process has to be attached too.
    says(&mut host, from("s", 8, &[3]), STOP);
    ends(&mut host, 8);
    host.run(61);
    let unsaid = |first: u32| SessionReport { registers: Registers::Never, ..from("s", first, &[3]) };
    says(&mut host, unsaid(9), resumed());
    assert!(live(&host).is_none());
    assert_eq!(host.engine.admit(&unsaid(9)), Admission::Stranger);
}

#[test]
fn one_that_is_attached_from_below_its_agent_is_the_agents() {
    let mut host = host(Policy::default(), [queued("a")]);
    let attached = Contact::Started { resumed: false, takes: false };
    says(&mut host, from("s", 9, &[5, 3]), attached);
    let hook = SessionReport { registers: Registers::Never, ..from("s", 5, &[3]) };
    assert_eq!(host.engine.admit(&hook), Admission::Known);
    says(&mut host, hook, PROMPT);
    assert_eq!(pid(&host), Some(5));
    ends(&mut host, 9);
    host.run(61);
    assert_eq!(live(&host), Some(("s", Way::Attached)));
    // Attached once more from another terminal of the same window, it does not come to live in that.
    says(&mut host, from("s", 3, &[]), Contact::Active { own: false });
    assert_eq!(pid(&host), Some(5));
    // What a person named as its process is it.
    says(&mut host, by_name("s"), Contact::Ended);
    says(&mut host, SessionReport { guessed: false, ..from("s", 19, &[5, 3]) }, START);
    assert!(matches!(host.engine.admit(&from("s", 5, &[3])), Admission::Elsewhere(_)));
    ends(&mut host, 19);
    assert!(live(&host).is_none());
}
