//! By which reports a session becomes the Orchestrator's, and which count as its own (DESIGN.md 5.1).

use super::super::{Admission, Contact, RecordKind, Registers, SessionReport, Way};
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
    host.tell(super::super::Event::SessionProcessEnded(process(7)));
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
