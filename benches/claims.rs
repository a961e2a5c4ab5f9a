//! Claims in git, side by side with what git itself takes for the same. docs/performance.md says how to run this.
//!
//!     cargo bench --bench claims
//!
//! Must not know: how claims are kept.

use std::error::Error;
use std::io::Write;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use chrono::{DateTime, Utc};
use tempfile::TempDir;
use yoi::adapters::claims::GitClaims;
use yoi::adapters::claims::remote::RemoteClaims;
use yoi::domain::claim::{Step, StepKind, name};
use yoi::domain::facts::{ProcessIdentity, TimeDeltaSeconds};
use yoi::domain::ticket::TicketId;
use yoi::ports::{Claims, Swapped};
use yoi::text::claim_record;

type Fallible<T = ()> = Result<T, Box<dyn Error>>;

/// How many claims are made.
const ROUNDS: usize = 300;
/// How many there are already.
const MANY: usize = 10_000;

fn main() -> Fallible {
    println!("| | median ms | a second |\n|---|---|---|");
    let local = local()?;
    let remote = remote()?;
    println!("\n| {MANY} claims | median ms | a second |\n|---|---|---|");
    many()?;
    println!("\nP9: one claim is {local:.2} x `git update-ref`; P10: through a remote {remote:.2} x `git push`");
    Ok(())
}

fn step(ticket: &str, round: usize) -> Step {
    Step {
        ticket: TicketId::from(ticket),
        kind: StepKind::Claim,
        worker: format!("worker-{round}"),
        role: "coder".into(),
        at: DateTime::<Utc>::from_timestamp(1_796_029_200, 0).unwrap_or_default(),
        ttl: TimeDeltaSeconds(5400),
        generation: 1,
        nonce: format!("{round}-{ticket}"),
        process: ProcessIdentity { host: "host".into(), boot_id: "boot".into(), pid: 7, started: 1 },
        session: None,
        awake: Some(TimeDeltaSeconds(1000)),
    }
}

fn git(folder: &Path, arguments: &[&str], input: &[u8]) -> Fallible<String> {
    let mut command = Command::new("git");
    command.args(arguments).current_dir(folder).env("GIT_CONFIG_GLOBAL", "/dev/null").env("GIT_CONFIG_NOSYSTEM", "1");
    let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn()?;
    if let Some(mut pipe) = child.stdin.take() {
        pipe.write_all(input)?;
    }
    let output = child.wait_with_output()?;
    let said = String::from_utf8_lossy(&output.stdout).trim().to_owned();
    if output.status.success() { Ok(said) } else { Err(format!("git {arguments:?} failed").into()) }
}

fn repository() -> Fallible<(TempDir, GitClaims)> {
    let folder = tempfile::tempdir()?;
    git(folder.path(), &["init", "-q"], b"")?;
    let claims = GitClaims::new(folder.path(), Some(&folder.path().join(".git")));
    Ok((folder, claims))
}

/// Prints a row; returns the median in milliseconds.
fn row(what: &str, mut times: Vec<Duration>) -> f64 {
    times.sort();
    let median = times[times.len() / 2].as_secs_f64() * 1000.0;
    let mean = times.iter().sum::<Duration>() / u32::try_from(times.len()).unwrap_or(1);
    println!("| {what} | {median:.2} | {:.0} |", 1.0 / mean.as_secs_f64());
    median
}

fn timed<T>(times: &mut Vec<Duration>, act: impl FnOnce() -> Fallible<T>) -> Fallible<T> {
    let begun = Instant::now();
    let result = act()?;
    times.push(begun.elapsed());
    Ok(result)
}

fn claim(claims: &dyn Claims, round: usize) -> Fallible {
    let ticket = format!("ticket-{round}");
    match claims.swap(&TicketId::from(ticket.as_str()), None, None, &[step(&ticket, round)])? {
        Swapped::Moved(_) => Ok(()),
        Swapped::Lost(_) => Err("a claim was lost that nobody else wanted".into()),
    }
}

/// P9, in turns, so that a machine that is busy for a while is busy for both.
fn local() -> Fallible<f64> {
    let (folder, _) = repository()?;
    let (_other, claims) = repository()?;
    let commit = commit(folder.path(), 0)?;
    let (mut ours, mut theirs, mut synced, mut reads) = (Vec::new(), Vec::new(), Vec::new(), Vec::new());
    for round in 0..ROUNDS {
        timed(&mut ours, || claim(&claims, round))?;
        timed(&mut reads, || Ok(claims.read(&TicketId::from(format!("ticket-{round}").as_str()))?))?;
        let name = format!("refs/x/plain-{round}");
        timed(&mut theirs, || git(folder.path(), &["update-ref", &name, &commit, ""], b""))?;
        let name = format!("refs/x/synced-{round}");
        let arguments = ["-c", "core.fsync=all", "update-ref", &name, &commit, ""];
        timed(&mut synced, || git(folder.path(), &arguments, b""))?;
    }
    let ours = row("one claim, in process, synced", ours);
    row("one reading of a claim", reads);
    row("`git update-ref`, as it comes", theirs);
    Ok(ours / row("`git update-ref`, synced (`core.fsync=all`)", synced))
}

/// A commit like a claim's.
fn commit(folder: &Path, round: usize) -> Fallible<String> {
    let tree = git(folder, &["mktree"], b"")?;
    let message = claim_record::write(&step("x", round))?;
    let text = format!("tree {tree}\nauthor a <a@b> 0 +0000\ncommitter a <a@b> 0 +0000\n\n{message}");
    git(folder, &["hash-object", "-t", "commit", "-w", "--stdin"], text.as_bytes())
}

/// P10.
fn remote() -> Fallible<f64> {
    let folder = tempfile::tempdir()?;
    git(folder.path(), &["init", "-q", "--bare", "server.git"], b"")?;
    let clone = folder.path().join("clone");
    git(folder.path(), &["init", "-q", "clone"], b"")?;
    git(&clone, &["remote", "add", "origin", "../server.git"], b"")?;
    let claims = RemoteClaims::new(&clone, Some(&clone.join(".git")), "origin");
    let (mut ours, mut theirs) = (Vec::new(), Vec::new());
    for round in 0..ROUNDS / 5 {
        timed(&mut ours, || claim(&claims, round))?;
        let refspec = format!("{}:refs/x/{round}", commit(&clone, round)?);
        let lease = format!("--force-with-lease=refs/x/{round}:");
        timed(&mut theirs, || git(&clone, &["push", "-q", &lease, "origin", &refspec], b""))?;
    }
    let ours = row("one claim through a remote (a path)", ours);
    Ok(ours / row("`git push` of one commit and ref there, with a lease", theirs))
}

/// P11.
fn many() -> Fallible {
    let (folder, claims) = repository()?;
    let mut stream = Vec::new();
    for round in 0..MANY {
        let ticket = format!("ticket-{round}");
        let message = claim_record::write(&step(&ticket, round))?;
        let name = name::of(&TicketId::from(ticket.as_str()));
        let head = format!("reset refs/yoi/claims/{name}\ncommit refs/yoi/claims/{name}\ncommitter a <a@b> 0 +0000\n");
        stream.extend_from_slice(format!("{head}data {}\n{message}\n", message.len()).as_bytes());
    }
    git(folder.path(), &["fast-import", "--quiet"], &stream)?;
    for (at, how) in ["loose", "packed"].into_iter().enumerate() {
        if how == "packed" {
            git(folder.path(), &["pack-refs", "--all"], b"")?;
        }
        let (mut first, mut all, mut theirs, mut more) = (Vec::new(), Vec::new(), Vec::new(), Vec::new());
        for round in 0..7 {
            let fresh = GitClaims::new(folder.path(), Some(&folder.path().join(".git")));
            timed(&mut first, || Ok(fresh.all()?))?;
            let found = timed(&mut all, || Ok(claims.all()?))?;
            assert_eq!((found.tips.len(), found.unreadable.len()), (MANY + at * 7 + round, 0));
            timed(&mut theirs, || git(folder.path(), &["for-each-ref", "--format=%(contents)", "refs/yoi"], b""))?;
            timed(&mut more, || claim(&claims, MANY * 2 + at * 7 + round))?;
        }
        row(&format!("all of them, {how}"), first);
        row(&format!("all of them once more, {how}"), all);
        row(&format!("`git for-each-ref` with their texts, {how}"), theirs);
        row(&format!("one more claim, {how}"), more);
    }
    Ok(())
}
