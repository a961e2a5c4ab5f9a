//! All that a connection can suffer, by the real program: each has an outcome of its own, no ticket is claimed twice, and none is
//! held longer than its claim's time by a push whose answer was lost. `YOI_ROUNDS` above 1 makes a slow remote one of 10 s.

use std::fs;
use std::process::{Child, Stdio};
use std::thread;
use std::time::Instant;

use super::{Clones, SETTINGS, age, is_of_class};
use crate::support::stage::{BOUND, Stage};
use crate::support::wait::until;
use crate::support::{Answer, Bench};

/// How long a slow remote takes for an answer, in seconds.
fn slowly() -> u64 {
    let rounds = std::env::var("YOI_ROUNDS").ok().and_then(|rounds| rounds.parse::<u32>().ok());
    if rounds.is_some_and(|rounds| rounds > 1) { 10 } else { 1 }
}

impl Clones {
    /// In pull mode, with a ticket that both have in their queues.
    fn queued(id: &str) -> Self {
        let clones = Self::new();
        for stage in clones.both() {
            stage.bench.write("work/.yoi/config.toml", &format!("[dispatch]\nmode = \"pull\"\n{SETTINGS}"));
            stage.ticket(id, "queued", "");
        }
        clones
    }

    /// A hook of the server's; None: none.
    fn hook(&self, name: &str, script: Option<&str>) {
        let path = format!("server.git/hooks/{name}");
        match script {
            Some(script) => {
                self.one.bench.write(&path, &format!("#!/bin/sh\n{script}\n"));
                self.shell(&format!("chmod +x {path}"));
            }
            None => fs::remove_file(self.one.bench.path(&path)).unwrap(),
        }
    }

    fn shell(&self, line: &str) {
        let answer = self.one.bench.run(self.one.bench.program("sh", "").args(["-euc", line]));
        assert_eq!(answer.code, 0, "{line}: {answer}");
    }

    /// How many refs the server has.
    fn refs_at_server(&self) -> usize {
        self.one.bench.git("server.git", &["for-each-ref"]).lines().count()
    }
}

fn spawn(stage: &Stage, line: &str) -> Child {
    let mut command = stage.bench.command("work");
    command.args(line.split(' ')).stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap()
}

fn ended(child: Child) -> Answer {
    let output = child.wait_with_output().unwrap();
    let text = |bytes| String::from_utf8(bytes).unwrap();
    Answer { code: output.status.code().unwrap(), stdout: text(output.stdout), stderr: text(output.stderr) }
}

/// Of two that claim at once one wins, whoever it is; the other is told so.
fn one_wins(answers: &[(&str, Answer)]) -> String {
    let winners: Vec<_> = answers.iter().filter(|(_, answer)| answer.code == 0).map(|(worker, _)| *worker).collect();
    assert_eq!(winners.len(), 1, "{} / {}", answers[0].1, answers[1].1);
    let other = answers.iter().find(|(worker, _)| *worker != winners[0]).unwrap();
    assert!(other.1.code == 3 && other.1.stderr.contains(&format!("held by {}", winners[0])), "{}", other.1);
    winners[0].to_owned()
}

#[test]
fn a_slow_remote_is_waited_for_and_keeps_nobody_else_waiting() {
    let clones = Clones::queued("t");
    let [one, two] = clones.both();
    one.start();
    let script = format!(": > ../receiving; while test ! -e ../go; do sleep 0.05; done; sleep {}", slowly());
    clones.hook("pre-receive", Some(&script));
    let mut claiming = [("w", spawn(one, "claim t --worker w")), ("v", spawn(two, "claim t --worker v"))];
    let receives = || one.bench.path("receiving").exists().then_some(());
    until("a push", BOUND, receives, || one.story());
    one.done("show t");
    one.done("set t note=x");
    assert!(claiming[0].1.try_wait().unwrap().is_none(), "nobody has won yet");
    one.bench.write("go", "");
    let winner = one_wins(&claiming.map(|(worker, child)| (worker, ended(child))));
    assert_eq!(clones.at_server("t"), [format!("🔒 CLAIM worker={winner}")]);
}

/// The way there is slow, in both directions: an ssh that takes its time, and runs what it is to run right here.
#[test]
fn a_slow_ssh_is_waited_for() {
    let clones = Clones::queued("t");
    let [one, two] = clones.both();
    // Each command asks for several answers.
    let script = format!(
        "#!/bin/sh\nsleep {}\nfor last; do :; done\nexec sh -c \"$last\"\n",
        if slowly() > 1 { "1" } else { "0.3" }
    );
    one.bench.write("slow-ssh", &script);
    clones.shell("chmod +x slow-ssh");
    let (ssh, server) = (one.bench.path("slow-ssh"), one.bench.path("server.git"));
    for stage in clones.both() {
        stage.bench.git("work", &["config", "core.sshCommand", ssh.to_str().unwrap()]);
        stage.bench.git("work", &["config", "ssh.variant", "simple"]);
        stage.bench.git("work", &["remote", "set-url", "origin", &format!("ssh://there{}", server.display())]);
    }
    one.done("claim t --worker w");
    let refused = two.yoi("claim t --worker v");
    assert!(refused.code == 3 && refused.stderr.contains("held by w"), "{refused}");
    one.done("release t --worker w --outcome abandoned");
    assert_eq!(clones.at_server("t"), ["🔒 CLAIM worker=w", "🔓 RELEASE worker=w outcome=abandoned"]);
}

#[test]
fn an_answer_that_is_lost_after_success_is_found_out() {
    let clones = Clones::queued("t");
    let [one, two] = clones.both();
    clones.hook("reference-transaction", Some("test $1 != committed || kill -9 $PPID"));
    one.done("claim t --worker w");
    let refused = two.yoi("claim t --worker v");
    assert!(refused.code == 3 && refused.stderr.contains("held by w"), "{refused}");
    one.done("heartbeat t --worker w");
    assert_eq!(clones.at_server("t"), ["🔒 CLAIM worker=w", "🔒 HEARTBEAT worker=w"]);
}

/// Nobody could say whether it was won: that is said, nothing else is done, and the ticket is free again when its time is over.
#[test]
fn what_nobody_knows_is_said_and_keeps_the_ticket_no_longer_than_its_time() {
    let clones = Clones::queued("t");
    let [one, two] = clones.both();
    let before = one.text("t");
    clones.hook(
        "reference-transaction",
        Some("test $1 = committed || exit 0; mv \"$PWD\" \"${PWD%/*}/away.git\"; kill -9 $PPID"),
    );
    let unknown = one.yoi("claim t --worker w");
    assert!(
        unknown.code == 1 && unknown.stderr.contains("whether the claim of `t` was moved is not known"),
        "{unknown}"
    );
    assert_eq!(one.text("t"), before);
    clones.reachable(true);
    clones.hook("reference-transaction", None);
    let held = two.yoi("claim t --worker v");
    assert!(held.code == 3 && held.stderr.contains("held by w"), "{held}");
    // Whoever it was can go on with it.
    let again = one.yoi("claim t --worker w");
    assert!(again.code == 3 && again.stderr.contains("`yoi heartbeat t --worker w` renews that claim"), "{again}");
    one.done("heartbeat t --worker w");
    age(&clones, "t");
    let taken = two.done("claim t --worker v");
    assert!(taken.stdout.contains("the stale claim of w was broken for it"), "{taken}");
    let verbs: Vec<_> = clones.at_server("t").iter().map(|line| line.split(' ').nth(1).unwrap().to_owned()).collect();
    assert_eq!(verbs, ["CLAIM", "STALE-BREAK", "CLAIM"]);
}

#[test]
fn what_a_hook_refuses_is_no_race_that_was_lost_and_changes_nothing() {
    let clones = Clones::queued("t");
    let one = &clones.one;
    let before = one.text("t");
    clones.hook("pre-receive", Some("echo 'no claims on Friday' >&2; exit 1"));
    let refused = one.yoi("claim t --worker w");
    assert!(refused.code == 1 && refused.stderr.contains("no claims on Friday"), "{refused}");
    let refused = one.yoi("next --claim --worker w");
    assert!(refused.code == 1 && refused.stderr.contains("no claims on Friday"), "{refused}");
    assert_eq!((one.text("t"), clones.refs_at_server()), (before, 0));
    clones.hook("pre-receive", None);
    one.done("claim t --worker w");
}

#[test]
fn what_cannot_be_reached_is_no_race_that_was_lost_and_changes_nothing() {
    let clones = Clones::queued("t");
    let one = &clones.one;
    let before = one.text("t");
    clones.reachable(false);
    let refused = one.yoi("claim t --worker w");
    assert!(refused.code == 1 && refused.stderr.contains("cannot be asked, and nothing was changed"), "{refused}");
    assert_eq!(one.text("t"), before);
    clones.reachable(true);
    assert_eq!(clones.refs_at_server(), 0);
    one.done("claim t --worker w");
    is_of_class(one, "t", "active_inprogress");
}

/// A host of its own, as far as the network goes: for as long as its process lives.
struct Machine(Child);

impl Machine {
    fn new(bench: &Bench) -> Self {
        let mut command = bench.program("unshare", "");
        // It lives until its input ends.
        command.args(["--net", "sh", "-c", "echo; exec cat"]).stdin(Stdio::piped()).stdout(Stdio::piped());
        let mut child = command.spawn().unwrap();
        let mut line = [0];
        std::io::Read::read_exact(child.stdout.as_mut().unwrap(), &mut line).unwrap();
        Self(child)
    }

    /// What puts a line of sh into it.
    fn inside(&self) -> String {
        format!("nsenter --target {} --net", self.0.id())
    }
}

impl Drop for Machine {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

struct Killed(Child);

impl Drop for Killed {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

#[test]
fn hosts_whose_link_to_the_server_is_cut_in_the_middle_of_a_push() {
    let may = "unshare --net true && ip link set lo up && ip link add probe type veth peer name eborp && ip link del probe \
               && test -x \"$(git --exec-path)/git-daemon\" && command -v nsenter >&2";
    let name = "e2e::remotes::faults::hosts_whose_link_to_the_server_is_cut_in_the_middle_of_a_push";
    let skipped = "no network can be made here, so a link that is cut is not tried";
    crate::support::namespace::in_its_own_network(name, may, skipped, cut_in_the_middle);
}

/// A link from each host to the server, and `git daemon` there.
fn network(clones: &Clones, server: &Machine, second: &Machine) -> Killed {
    let (to_server, to_second) = (server.inside(), second.inside());
    clones.shell(&format!(
        "ip link add one type veth peer name s1 netns {s}; ip address add 10.9.1.1/24 dev one; ip link set one up
         {to_second} ip link add two type veth peer name s2 netns {s}
         {to_second} ip address add 10.9.2.1/24 dev two; {to_second} ip link set two up
         {to_server} ip address add 10.9.1.2/24 dev s1; {to_server} ip link set s1 up
         {to_server} ip address add 10.9.2.2/24 dev s2; {to_server} ip link set s2 up",
        s = server.0.id()
    ));
    let mut daemon = clones.one.bench.program("sh", "");
    let line = format!(
        "exec {to_server} \"$(git --exec-path)/git-daemon\" --base-path=. --export-all --enable=receive-pack --reuseaddr"
    );
    let daemon = Killed(daemon.args(["-c", &line]).stderr(Stdio::null()).spawn().unwrap());
    for (stage, net) in clones.both().into_iter().zip([1, 2]) {
        stage.bench.git("work", &["remote", "set-url", "origin", &format!("git://10.9.{net}.2/server.git")]);
    }
    daemon
}

/// The test itself runs on the first host. The server and the second one are others.
fn cut_in_the_middle() {
    let clones = Clones::queued("t");
    for id in ["u", "x"] {
        for stage in clones.both() {
            stage.ticket(id, "queued", "");
        }
    }
    let [one, two] = clones.both();
    let (server, second) = (Machine::new(&one.bench), Machine::new(&one.bench));
    let to_second = second.inside();
    let _daemon = network(&clones, &server, &second);
    let answers =
        || (one.bench.run(one.bench.program("git", "work").args(["ls-remote", "origin"])).code == 0).then_some(());
    until("the server", BOUND, answers, String::new);
    let on_second = |line: &str| {
        let yoi = env!("CARGO_BIN_EXE_yoi");
        two.bench.run(two.bench.program("sh", "work").args(["-c", &format!("exec {to_second} {yoi} {line}")]))
    };
    // The server has taken all of a push, and waits before it says so.
    clones.hook(
        "pre-receive",
        Some(": > ../receiving; while test ! -e ../go; do sleep 0.05; done; rm -f ../receiving ../go"),
    );
    let pushed = |line: &str| {
        let child = spawn(one, line);
        until("the push", BOUND, || one.bench.path("receiving").exists().then_some(()), String::new);
        clones.shell("ip link set one down");
        one.bench.write("go", "");
        until("the server's doing", BOUND, || (!one.bench.path("receiving").exists()).then_some(()), String::new);
        child
    };
    // Cut for a moment: the answer comes late.
    let late = pushed("claim t --worker w");
    until("the ref", BOUND, || (clones.refs_at_server() == 1).then_some(()), String::new);
    clones.shell("ip link set one up");
    let late = ended(late);
    assert_eq!(late.code, 0, "{late}");
    // Offline: refused, and nothing is claimed; the other host goes on.
    clones.shell("ip link set one down");
    one.bench.write("go", "");
    let refused = one.yoi("claim u --worker w");
    assert!(refused.code == 1 && refused.stderr.contains("take `--local` then"), "{refused}");
    one.done("claim u --worker w --local");
    let other = on_second("claim u --worker v");
    assert_eq!(other.code, 0, "{other}");
    clones.shell("ip link set one up");
    clones.hook("pre-receive", None);
    let lost = one.yoi("heartbeat u --worker w");
    assert!(lost.code == 3 && lost.stderr.contains("held by v"), "{lost}");
    assert_eq!(clones.at_server("u"), ["🔒 CLAIM worker=v"]);
    if slowly() > 1 {
        cut_for_good(&clones, on_second, pushed);
    } else {
        eprintln!("SKIPPED: a link that stays cut takes half a minute; YOI_ROUNDS=2 tries it");
    }
}

/// Cut for longer than anybody waits: nobody knows, and that is said; and then it turns out to have been won.
fn cut_for_good(clones: &Clones, on_second: impl Fn(&str) -> Answer, pushed: impl Fn(&str) -> Child) {
    let one = &clones.one;
    clones.hook(
        "pre-receive",
        Some(": > ../receiving; while test ! -e ../go; do sleep 0.05; done; rm -f ../receiving ../go"),
    );
    let unknown = ended(pushed("claim x --worker w"));
    assert!(unknown.code == 1 && unknown.stderr.contains("is not known"), "{unknown}");
    clones.shell("ip link set one up");
    clones.hook("pre-receive", None);
    let held = on_second("claim x --worker v");
    assert!(held.code == 3 && held.stderr.contains("held by w"), "{held}");
    let end = Instant::now() + BOUND;
    while one.yoi("heartbeat x --worker w").code != 0 {
        assert!(Instant::now() < end);
        thread::yield_now();
    }
    assert_eq!(clones.at_server("x"), ["🔒 CLAIM worker=w", "🔒 HEARTBEAT worker=w"]);
}
