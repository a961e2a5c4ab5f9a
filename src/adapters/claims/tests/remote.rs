//! Clones of one repository that a server keeps, and all that a connection can suffer.

use std::collections::BTreeSet;
use std::net::TcpListener;

use super::super::remote::RemoteClaims;
use super::race::{as_racer, number, processes};
use super::servers::{daemon, free_port, http};
use super::*;

/// A bare repository `server.git`, and clones of it beside.
pub(super) struct Clones {
    folder: TempDir,
}

impl Clones {
    pub(super) fn new(clones: usize) -> Self {
        let clones_too = Self { folder: TempDir::new().unwrap() };
        clones_too.shell("git init -q --bare server.git; git -C server.git config http.receivepack true");
        for clone in 0..clones {
            clones_too.shell(&format!("git init -q -b main {clone}; git -C {clone} remote add origin ../server.git"));
        }
        clones_too
    }

    #[track_caller]
    pub(super) fn shell(&self, script: &str) -> String {
        shell(self.folder.path(), script)
    }

    fn clone(&self, clone: usize) -> PathBuf {
        self.folder.path().join(clone.to_string())
    }

    pub(super) fn claims(&self, clone: usize) -> RemoteClaims {
        remote(&self.clone(clone))
    }

    /// A hook of the server's.
    pub(super) fn hook(&self, name: &str, script: &str) {
        let path = self.folder.path().join("server.git/hooks").join(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(&path, format!("#!/bin/sh\n{script}\n")).unwrap();
        self.shell(&format!("chmod +x server.git/hooks/{name}"));
    }

    /// What clone 0 says of a claim of `t`.
    fn claim(&self, claims: &RemoteClaims) -> Result<Swapped, ClaimsError> {
        let _ = self;
        claims.swap(&id("t"), None, None, &[step("t", StepKind::Claim, "a", 1)])
    }

    /// What the server has of `t`.
    pub(super) fn at_server(&self) -> String {
        self.shell("git -C server.git for-each-ref --format='%(objectname)' refs/yoi/claims/t").trim().to_owned()
    }
}

fn remote(clone: &Path) -> RemoteClaims {
    RemoteClaims::new(clone, Some(&clone.join(".git")), "origin")
}

#[test]
fn the_contract_holds_through_servers_of_every_kind() {
    let clones = Clones::new(1);
    contract::holds(&clones.claims(0));
    clones.shell("git -C server.git fsck --strict; git -C 0 fsck --strict");

    let clones = Clones::new(1);
    match daemon(clones.folder.path()) {
        Some((_daemon, address)) => {
            clones.shell(&format!("git -C 0 remote set-url origin {address}/server.git"));
            contract::holds(&clones.claims(0));
        }
        None => eprintln!("SKIPPED: there is no git daemon here"),
    }

    let clones = Clones::new(1);
    match http(clones.folder.path()) {
        Some(address) => {
            clones.shell(&format!("git -C 0 remote set-url origin {address}/server.git"));
            contract::holds(&clones.claims(0));
        }
        None => eprintln!("SKIPPED: there is no git http-backend here"),
    }
}

#[test]
fn the_contract_holds_whatever_kinds_of_repositories_meet() {
    let settings = [
        "rm -rf 0 server.git; git init -q --ref-format=reftable 0; git init -q --bare --ref-format=reftable server.git
         git -C 0 remote add origin ../server.git",
        "rm -rf 0 server.git; git init -q --object-format=sha256 0; git init -q --bare --object-format=sha256 server.git
         git -C 0 remote add origin ../server.git",
        "git -C server.git config receive.fsckObjects true; git -C 0 config fetch.fsckObjects true
         git -C 0 config fetch.prune true; git -C 0 config push.default nothing; git -C 0 config remote.origin.mirror true
         git -C 0 config push.gpgSign true; git -C 0 config push.followTags true; git -C 0 config fetch.pruneTags true
         mkdir -p 0/.git/hooks; printf '#!/bin/sh\\nexit 1\\n' > 0/.git/hooks/pre-push; chmod +x 0/.git/hooks/pre-push",
        "git -C 0 commit -q --allow-empty -m one; git -C 0 push -q origin HEAD; rm -rf 0
         git clone -q --depth=1 --filter=blob:none file://$PWD/server.git 0",
    ];
    for setting in settings {
        let clones = Clones::new(1);
        clones.shell(setting);
        contract::holds(&clones.claims(0));
    }
}

#[test]
fn whoever_moves_refs_here_for_a_moment_is_no_remote_that_cannot_be_reached() {
    let clones = Clones::new(1);
    clones.shell("rm -rf 0; git init -q --ref-format=reftable 0; git -C 0 remote add origin ../server.git");
    let claims = clones.claims(0);
    assert!(matches!(clones.claim(&claims), Ok(Swapped::Moved(_))));
    let lock = clones.clone(0).join(".git/reftable/tables.list.lock");
    fs::write(&lock, "").unwrap();
    std::thread::scope(|scope| {
        scope.spawn(|| {
            std::thread::sleep(Duration::from_millis(700));
            fs::remove_file(&lock).unwrap();
        });
        assert!(claims.read(&id("t")).unwrap().is_some());
    });
}

#[test]
fn clones_see_what_the_others_did() {
    let clones = Clones::new(2);
    let [one, two] = [clones.claims(0), clones.claims(1)];
    let tip = moved(clones.claim(&one));
    assert_eq!(two.all().unwrap(), AllClaims::default(), "without asking it is not known");
    assert_eq!(two.refresh(), Ok(true));
    assert_eq!(two.all().unwrap().tips, std::slice::from_ref(&tip));
    assert_eq!((two.refresh(), one.refresh()), (Ok(false), Ok(false)), "nothing has changed since");
    assert_eq!(two.read(&id("t")).unwrap().as_ref(), Some(&tip));
    assert_eq!(lost(clones.claim(&two)).as_ref(), Some(&tip));

    let beat = [step("t", StepKind::Heartbeat, "a", 1)];
    let beat = moved(one.swap(&id("t"), Some(&tip.revision), Some(tip.base()), &beat));
    let breaking = |tip: &Tip| {
        let taken = [step("t", StepKind::StaleBreak { prior: "a".into() }, "b", 1), step("t", StepKind::Claim, "b", 2)];
        two.swap(&id("t"), Some(&tip.revision), Some(tip.base()), &taken)
    };
    assert_eq!(lost(breaking(&tip)).as_ref(), Some(&beat));
    let taken = moved(breaking(&beat));
    assert_eq!(one.all().unwrap().tips, [beat]);
    one.refresh().unwrap();
    assert_eq!(one.all().unwrap().tips, [taken]);

    // Gone at the server, gone here.
    clones.shell("git -C server.git update-ref -d refs/yoi/claims/t");
    assert_eq!(one.read(&id("t")).unwrap(), None);
    assert_eq!(one.all().unwrap(), AllClaims::default());
    assert_eq!(two.refresh(), Ok(true));
    assert_eq!(two.all().unwrap(), AllClaims::default());
    // Nothing is left of all the reading, and nothing but our own refs was touched.
    let refs = clones.shell("for c in 0 1; do git -C $c for-each-ref; test ! -e $c/.git/FETCH_HEAD; done");
    assert_eq!(refs, "");
}

/// Whoever asks is overtaken while the remote answers: a claim that is won meanwhile must not be forgotten again for it, and one
/// that has moved on must not move back.
#[test]
fn an_answer_that_is_older_than_what_is_known_takes_nothing_back() {
    for many in [1, 250] {
        let clones = Clones::new(2);
        let [one, two] = [clones.claims(0), clones.claims(1)];
        let tip = moved(clones.claim(&one));
        let more = |claims: &RemoteClaims, name: &str| {
            moved(claims.swap(&id(name), None, None, &[step(name, StepKind::Claim, "b", 1)]))
        };
        let oid = &tip.revision;
        let refs: Vec<String> = (0..many).map(|n| format!("create refs/yoi/claims/x{n} {oid}\n")).collect();
        fs::write(clones.folder.path().join("refs"), refs.concat()).unwrap();
        clones.shell("git -C server.git update-ref --stdin < refs");
        // The second question of one look waits until the first's answer is old.
        let slow = "#!/bin/sh\nif test -e \"$0.first\"; then : > \"$0.asked\"; while test ! -e \"$0.go\"; do sleep 0.02; done; fi
: > \"$0.first\"; exec git upload-pack \"$@\"\n";
        fs::write(clones.folder.path().join("slow"), slow).unwrap();
        clones.shell("chmod +x slow; git -C 1 config remote.origin.uploadpack \"$PWD/slow\"");
        std::thread::scope(|scope| {
            let looking = scope.spawn(|| two.refresh());
            let asked = clones.folder.path().join("slow.asked");
            let end = std::time::Instant::now() + Duration::from_secs(20);
            while !asked.exists() && !looking.is_finished() {
                assert!(std::time::Instant::now() < end);
                std::thread::yield_now();
            }
            clones.shell("git -C 1 config --unset remote.origin.uploadpack");
            let won = more(&two, "new");
            fs::write(clones.folder.path().join("slow.go"), "").unwrap();
            assert_eq!(looking.join().unwrap(), Ok(true));
            let all = two.all().unwrap();
            assert!(all.tips.contains(&won) && all.tips.contains(&tip), "{many}: {all:?}");
        });
    }
}

#[test]
fn what_an_interrupted_reading_left_is_removed_when_it_is_old() {
    let clones = Clones::new(1);
    let claims = clones.claims(0);
    let tip = moved(clones.claim(&claims));
    let (old, new) = (ulid::Ulid::from_parts(1, 1), ulid::Ulid::generate());
    for left in [old.to_string(), new.to_string(), "another".into()] {
        clones.shell(&format!("git -C 0 update-ref refs/yoi/remotes/origin/reading/{left} {}", tip.revision));
    }
    claims.refresh().unwrap();
    let refs = clones.shell("git -C 0 for-each-ref --format='%(refname)' refs/yoi/remotes/origin/reading");
    assert!(!refs.contains(&old.to_string()) && refs.contains(&new.to_string()) && refs.contains("another"), "{refs}");
}

#[test]
fn refs_that_others_put_there_are_named_and_left_alone() {
    let clones = Clones::new(1);
    clones.shell("git -C 0 commit -q --allow-empty -m one; git -C 0 push -q origin HEAD:refs/yoi/claims/t");
    let claims = clones.claims(0);
    let before = clones.at_server();
    claims.refresh().unwrap();
    let sentence = is_unreadable(&claims, &id("t"));
    assert_snapshot!(sentence, @r"refs/yoi/claims/t is no claim that this version of yoi can read: its message has no trailers. It is left as it is, and so the ticket cannot be claimed; if nobody needs it, `git push origin :refs/yoi/claims/t` removes it there");
    assert_eq!(clones.at_server(), before);
    clones.shell("cd 0; git push -q origin :refs/yoi/claims/t");
    moved(clones.claim(&claims));
}

#[test]
fn a_remote_that_is_none_is_named() {
    let clones = Clones::new(1);
    let mut sentences = Vec::new();
    let mut say = |claims: RemoteClaims| {
        let errors =
            [claims.read(&id("t")).unwrap_err(), clones.claim(&claims).unwrap_err(), claims.refresh().unwrap_err()];
        assert!(errors[1..].iter().all(|error| *error == errors[0]), "{errors:?}");
        assert!(matches!(errors[0], ClaimsError::Failed(_) | ClaimsError::NoGit(_)), "{errors:?}");
        sentences.push(errors[0].to_string());
    };
    let clone = clones.clone(0);
    say(RemoteClaims::new(&clone, Some(&clone.join(".git")), "upstream"));
    say(RemoteClaims::new(&clone, Some(&clone.join(".git")), "--upload-pack=touch x"));
    clones.shell("git -C 0 remote set-url --add origin ../other.git");
    say(clones.claims(0));
    assert_snapshot!(sentences.join("\n"), @r"
    `claims.remote` is `upstream`, and this repository has no remote of that name; `git remote add upstream URL` adds one
    `claims.remote` is `--upload-pack=touch x`, which is no name of a git remote; `git remote` lists them
    git pushes to several places for the remote `origin`, and only one can say who has a claim; name another one in `claims.remote`
    ");
    assert!(matches!(RemoteClaims::new(&clone, None, "origin").read(&id("t")), Err(ClaimsError::NoGit(_))));
}

#[test]
fn a_remote_that_cannot_be_reached_is_no_race_that_was_lost() {
    let clones = Clones::new(1);
    let silent = TcpListener::bind("127.0.0.1:0").unwrap();
    let addresses = [
        "../nowhere.git".to_owned(),
        format!("git://127.0.0.1:{}/server.git", free_port()),
        format!("http://127.0.0.1:{}/server.git", free_port()),
        "ssh://nobody@host.invalid/server.git".into(),
        "http://host.invalid/server.git".into(),
        // Somebody takes the connection and says nothing.
        format!("git://{}/server.git", silent.local_addr().unwrap()),
    ];
    for address in addresses {
        clones.shell(&format!("git -C 0 remote set-url origin {address}"));
        let claims = clones.claims(0).with_limit(Duration::from_secs(2));
        let errors = [claims.read(&id("t")).unwrap_err(), claims.refresh().unwrap_err()];
        assert!(errors.iter().all(|error| matches!(error, ClaimsError::Unreachable(_))), "{errors:?}");
        let refused = clones.claim(&claims).unwrap_err();
        let unsure = address.contains(&silent.local_addr().unwrap().to_string());
        match refused {
            ClaimsError::Unreachable(_) if !unsure => {}
            ClaimsError::Unknown(_) if unsure => {}
            other => panic!("{address}: {other:?}"),
        }
        assert_eq!(claims.all().unwrap(), AllClaims::default(), "what is known is known without asking");
    }
}

#[test]
fn a_slow_remote_is_waited_for() {
    let clones = Clones::new(1);
    clones.hook("pre-receive", &format!("sleep {}", if number("YOI_ROUNDS", 1) > 1 { "10" } else { "1" }));
    moved(clones.claim(&clones.claims(0)));
}

#[test]
fn what_a_hook_of_the_remotes_says_is_told_on() {
    let clones = Clones::new(1);
    clones.hook("pre-receive", "echo 'no claims on Friday' >&2; exit 1");
    let refused = clones.claim(&clones.claims(0)).unwrap_err();
    assert!(matches!(refused, ClaimsError::Rejected(_)), "{refused:?}");
    assert_snapshot!(refused, @r"the remote `origin` refuses the claim: [remote rejected] (pre-receive hook declined); no claims on Friday");
    assert_eq!(clones.at_server(), "");
}

#[test]
fn a_lock_at_the_remote_is_waited_for() {
    let clones = Clones::new(1);
    clones.shell("mkdir -p server.git/refs/yoi/claims; : > server.git/refs/yoi/claims/t.lock");
    let _beside = Beside::new(clones.folder.path(), "sleep 0.7; rm server.git/refs/yoi/claims/t.lock");
    moved(clones.claim(&clones.claims(0)));
}

/// The server takes the push, and nobody hears of it.
#[test]
fn after_a_lost_answer_the_remote_is_asked_again() {
    let clones = Clones::new(2);
    let claims = clones.claims(0);
    clones.hook("reference-transaction", "test $1 != committed || kill -9 $PPID");
    let tip = moved(clones.claim(&claims));
    assert_eq!(clones.at_server(), tip.revision.0);
    assert_eq!(claims.all().unwrap().tips, std::slice::from_ref(&tip));

    // Somebody else was first, and the answer to that is lost too.
    assert_eq!(lost(clones.claim(&claims)).as_ref(), Some(&tip));
    clones.shell("rm server.git/hooks/reference-transaction");
    let theirs = clones.claims(1);
    theirs.read(&id("t")).unwrap();
    let beat = [step("t", StepKind::Heartbeat, "a", 1)];
    let newest = moved(theirs.swap(&id("t"), Some(&tip.revision), Some(tip.base()), &beat));
    let beat = [step("t", StepKind::Heartbeat, "a", 1)];
    assert_eq!(lost(claims.swap(&id("t"), Some(&tip.revision), Some(tip.base()), &beat)), Some(newest));
}

/// The connection is lost before anything is done, each time.
#[test]
fn a_push_that_came_to_nothing_is_tried_again_and_then_unreachable() {
    let clones = Clones::new(1);
    let claims = clones.claims(0);
    let dying = "#!/bin/sh\necho x >> \"$0.count\"\ngit receive-pack --advertise-refs \"$@\"\nread -r _\nexit 1\n";
    fs::write(clones.folder.path().join("dying"), dying).unwrap();
    clones.shell("chmod +x dying; git -C 0 config remote.origin.receivepack \"$PWD/dying\"");
    let refused = clones.claim(&claims).unwrap_err();
    assert!(matches!(refused, ClaimsError::Unreachable(_)), "{refused:?}");
    assert_eq!(clones.shell("wc -l < dying.count").trim(), "3");
    // And at the second try it goes well.
    let dying = "#!/bin/sh\ntest -e \"$0.once\" && exec git receive-pack \"$@\"\n: > \"$0.once\"\nexit 1\n";
    fs::write(clones.folder.path().join("dying"), dying).unwrap();
    clones.shell("rm dying.count");
    let first = clones.claim(&claims);
    assert!(matches!(first, Ok(Swapped::Moved(_)) | Err(ClaimsError::Unreachable(_))), "{first:?}");
}

/// It neither answers nor can be asked again: nobody knows.
#[test]
fn what_nobody_knows_is_said_so() {
    let clones = Clones::new(1);
    let claims = clones.claims(0);
    let taking = "test $1 = committed || exit 0; mv \"$PWD\" \"$PWD.away\"; kill -9 $PPID";
    clones.hook("reference-transaction", taking);
    let unknown = clones.claim(&claims).unwrap_err();
    assert!(matches!(unknown, ClaimsError::Unknown(_)), "{unknown:?}");
    clones.shell("mv server.git.away server.git; rm server.git/hooks/reference-transaction");
    assert!(claims.read(&id("t")).unwrap().is_some(), "it had been taken");
}

/// A push that does not end is ended, with whatever it started; what it will come to nobody knows.
#[test]
fn a_push_that_does_not_end_is_unknown() {
    let clones = Clones::new(1);
    let claims = clones.claims(0).with_limit(Duration::from_millis(1500));
    clones.hook("pre-receive", "exec sleep 1000");
    let unknown = clones.claim(&claims).unwrap_err();
    assert!(matches!(unknown, ClaimsError::Unknown(_)), "{unknown:?}");
    assert_eq!(clones.at_server(), "");
}

#[test]
fn of_many_processes_in_several_clones_one_wins() {
    if as_racer(remote) {
        return;
    }
    let name = "adapters::claims::tests::remote::of_many_processes_in_several_clones_one_wins";
    let rounds = number("YOI_ROUNDS", 3);
    let clones = Clones::new(4);
    let _packing =
        Beside::new(clones.folder.path(), "while :; do git -C server.git pack-refs --all; git -C 0 gc -q; done 2>&-");
    let folders: Vec<PathBuf> = (0..4).map(|clone| clones.clone(clone)).collect();
    let folders: Vec<&Path> = folders.iter().map(PathBuf::as_path).collect();
    let won = processes(name, &folders, number("YOI_RACERS", 8), rounds).concat();
    let different: BTreeSet<_> = won.iter().collect();
    assert_eq!((won.len(), different.len()), (rounds, rounds), "{won:?}");
    let claims = clones.claims(1);
    claims.refresh().unwrap();
    let all = claims.all().unwrap();
    assert_eq!((all.tips.len(), all.unreadable.len()), (rounds, 0), "{:?}", all.unreadable);
    assert!(all.tips.iter().all(|tip| !tip.is_held() && tip.parent.is_some()));
}
