//! Roles' programs under claims that a remote keeps: ended when another clone has the ticket, with a daemon and without one.

use super::*;

const ROLE: &str = "[roles.coder]\ncommand = [\"sh\", \"-c\", \"while :; do echo x; sleep 0.1; done\"]\n";

fn pods(stage: &Stage) -> usize {
    let view = stage.json("pod list");
    view["pods"].as_array().unwrap().iter().filter(|pod| pod["role"] == "coder").count()
}

fn prepared() -> Clones {
    let clones = Clones::new();
    clones.accepted("t");
    let settings = clones.one.bench.read("work/.yoi/config.toml").replace("refresh", "heartbeat = \"1s\"\nrefresh");
    clones.one.bench.write("work/.yoi/config.toml", &format!("{settings}{ROLE}"));
    clones.one.done("trust");
    clones
}

#[test]
fn a_program_is_ended_when_another_clone_has_its_ticket() {
    for daemon in [false, true] {
        let clones = prepared();
        let [one, two] = clones.both();
        if daemon {
            one.start();
        }
        one.done("start t --role coder --worker w");
        // It is renewed at the server, by the supervisor.
        let beats = || clones.at_server("t").last().is_some_and(|step| step == "🔒 HEARTBEAT worker=w").then_some(());
        until("a renewal", BOUND, beats, || format!("{:?}", clones.at_server("t")));
        // Between one renewal and the next.
        let taken = || {
            age(&clones, "t");
            (two.yoi("claim t --worker v").code == 0).then_some(())
        };
        until("the claim", BOUND, taken, || format!("{:?}", clones.at_server("t")));
        until("the end of the program", BOUND, || (pods(one) == 0).then_some(()), || one.story());
        assert_eq!(clones.at_server("t").last().map(String::as_str), Some("🔒 CLAIM worker=v"));
        if daemon {
            one.stop();
        }
    }
}

#[test]
fn a_program_that_was_started_for_this_machine_alone_works_on_while_the_remote_is_away() {
    let clones = prepared();
    let [one, _] = clones.both();
    clones.reachable(false);
    let refused = one.yoi("start t --role coder --worker w");
    assert_eq!(refused.code, 1, "{refused}");
    assert_eq!(pods(one), 0);
    one.done("start t --role coder --worker w --local");
    let beat = || one.bench.git("work", &["for-each-ref", "--format=%(objectname)", "refs/yoi"]);
    let first = beat();
    until("a renewal", BOUND, || (beat() != first).then_some(()), || one.story());
    assert_eq!(pods(one), 1);
    one.done("down --pods");
    assert_eq!(pods(one), 0);
}
