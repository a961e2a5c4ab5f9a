//! Races between an edit and whoever writes the same file: somebody else writes while the edit is decided on, in the moment
//! before the exchange, or in the moment after it.

use std::convert::Infallible;
use std::fs::{self, Permissions};
use std::os::unix::fs::{MetadataExt, PermissionsExt, symlink};
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, Ordering};

use rustix::io::Errno;

use super::super::fault::hook;
use super::*;
use crate::domain::edit::Change;

fn edit<R>(path: &Path, decide: Decide<'_, R>) -> Result<Swapped, SwapError<R>> {
    edit_alone(path, decide).map(|(swapped, found)| {
        assert_eq!(found, []);
        swapped
    })
}

struct Bench {
    folder: tempfile::TempDir,
    file: PathBuf,
}

impl Bench {
    fn new(text: &str) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("t.md");
        fs::write(&file, text).unwrap();
        Self { folder, file }
    }

    fn text(&self) -> String {
        fs::read_to_string(&self.file).unwrap()
    }

    /// As most editors save: a new file, renamed over the old one.
    fn save(&self, text: &str) {
        let new = self.folder.path().join("editor");
        fs::write(&new, text).unwrap();
        fs::rename(&new, &self.file).unwrap();
    }

    fn names(&self) -> Vec<String> {
        let mut names: Vec<String> = fs::read_dir(self.folder.path())
            .unwrap()
            .map(|entry| entry.unwrap().file_name().into_string().unwrap())
            .collect();
        names.sort();
        names
    }

    /// Sets `state`; while that is decided on for the n-th time somebody saves the n-th text.
    fn set_state_while(&self, saves: &[&str]) -> Result<Swapped, SwapError<Infallible>> {
        let mut saves = saves.iter();
        edit(&self.file, &mut |_| {
            if let Some(text) = saves.next() {
                self.save(text);
            }
            Ok(vec![Change::text("state", "queued")])
        })
    }

    /// The same; the n-th text is saved at that place of the n-th exchange, by a new file or into the open one.
    fn set_state_and(&self, place: &'static str, in_place: bool, saves: &[&str]) -> Outcome {
        let mut saves: Vec<String> = saves.iter().rev().map(|text| (*text).to_owned()).collect();
        let (file, new) = (self.file.clone(), self.folder.path().join("editor"));
        hook::set(place, move || {
            let Some(text) = saves.pop() else { return };
            if in_place {
                return fs::write(&file, text).unwrap();
            }
            fs::write(&new, text).unwrap();
            fs::rename(&new, &file).unwrap();
        });
        edit_alone(&self.file, &mut |_| Ok(vec![Change::text("state", "queued")]))
    }
}

type Outcome = Result<(Swapped, Vec<Found>), SwapError<Infallible>>;

fn ticket(state: &str, more: &str) -> String {
    format!("---\ntitle: x\nstate: {state}\n---\n{more}")
}

#[test]
fn an_undisturbed_edit_leaves_nothing_behind() {
    let bench = Bench::new(&ticket("ready", "b\n"));
    let swapped = bench.set_state_while(&[]).unwrap();
    assert_eq!((swapped.before, swapped.after), (ticket("ready", "b\n").into(), ticket("queued", "b\n").into()));
    assert_eq!(bench.text(), ticket("queued", "b\n"));
    assert_eq!(bench.names(), ["t.md"]);
}

#[test]
fn no_change_writes_nothing() {
    let bench = Bench::new(&ticket("queued", "b\n"));
    let before = fs::metadata(&bench.file).unwrap();
    bench.set_state_while(&[]).unwrap();
    let after = fs::metadata(&bench.file).unwrap();
    assert_eq!((before.ino(), before.mtime_nsec()), (after.ino(), after.mtime_nsec()));
}

#[test]
fn what_somebody_saved_in_between_is_kept_and_edited() {
    let bench = Bench::new(&ticket("ready", "b\n"));
    let swapped = bench.set_state_while(&[&ticket("ready", "more\n")]).unwrap();
    assert_eq!(bench.text(), ticket("queued", "more\n"));
    assert_eq!(String::from_utf8(swapped.before).unwrap(), ticket("ready", "more\n"));
    assert_eq!(bench.names(), ["t.md"]);
}

#[test]
fn several_saves_in_a_row_are_each_the_newest() {
    let bench = Bench::new(&ticket("ready", "0\n"));
    let texts = [ticket("ready", "1\n"), ticket("ready", "1\n2\n"), ticket("ready", "1\n2\n3\n")];
    bench.set_state_while(&[&texts[0], &texts[1], &texts[2]]).unwrap();
    assert_eq!(bench.text(), ticket("queued", "1\n2\n3\n"));
    assert_eq!(bench.names(), ["t.md"]);
}

#[test]
fn what_is_saved_in_the_last_moment_before_an_exchange_is_edited() {
    for in_place in [false, true] {
        let bench = Bench::new(&ticket("ready", "0\n"));
        let texts = [ticket("ready", "0\n1\n"), ticket("ready", "0\n1\n2\n")];
        let (swapped, found) = bench.set_state_and("before-exchange", in_place, &[&texts[0], &texts[1]]).unwrap();
        assert_eq!(bench.text(), ticket("queued", "0\n1\n2\n"));
        assert_eq!(String::from_utf8(swapped.after).unwrap(), bench.text());
        assert_eq!((found, bench.names()), (vec![], vec!["t.md".to_owned()]));
    }
    let bench = Bench::new(&ticket("ready", "b\n"));
    let conflict = bench.set_state_and("before-exchange", false, &[&ticket("done", "theirs\n")]);
    assert!(matches!(conflict, Err(SwapError::Conflict(_))), "{conflict:?}");
    assert_eq!(bench.text(), ticket("done", "theirs\n"));
}

/// Between the exchange and the look at what came out, somebody saves what he had read before: he wins, and that is said.
#[test]
fn what_is_saved_just_after_an_exchange_stays() {
    for in_place in [false, true] {
        let bench = Bench::new(&ticket("ready", "0\n"));
        let theirs = ticket("ready", "theirs\n");
        let (_, found) = bench.set_state_and("after-exchange", in_place, &[&theirs]).unwrap();
        assert_eq!(bench.text(), theirs);
        assert!(matches!(&found[..], [Found::SavedOver { keys, .. }] if *keys == ["state"]), "{found:?}");
    }
}

/// Somebody saves in the last moment, so that it comes out; and somebody else has read our text meanwhile, and saves that.
#[test]
fn what_came_out_is_kept_where_somebody_has_not_seen_it() {
    for in_place in [false, true] {
        let bench = Bench::new(&ticket("ready", "0\n"));
        let mut first = true;
        let (file, new) = (bench.file.clone(), bench.folder.path().join("editor"));
        hook::set("before-exchange", move || {
            let text = if std::mem::take(&mut first) {
                ticket("ready", "0\n1\n")
            } else {
                fs::read_to_string(&file).unwrap().replace("0\n", "0\n2\n")
            };
            if in_place {
                return fs::write(&file, text).unwrap();
            }
            fs::write(&new, text).unwrap();
            fs::rename(&new, &file).unwrap();
        });
        let mut decisions = 0;
        let edited = edit_alone(&bench.file, &mut |_| {
            decisions += 1;
            if decisions > 2 {
                hook::set("nowhere", || {});
            }
            Ok::<_, Infallible>(vec![Change::text("state", "queued")])
        });
        let (_, found) = edited.unwrap();
        let [Found::Conflict { kept, why }] = &found[..] else { panic!("{found:?}") };
        assert_eq!(why, "it was saved over by somebody who had perhaps not seen it");
        assert_eq!(fs::read_to_string(kept).unwrap(), ticket("ready", "0\n1\n"));
        assert_eq!(bench.text(), ticket("queued", "0\n2\n"));
    }
}

#[test]
fn who_saves_over_another_before_our_exchange_has_seen_it() {
    let bench = Bench::new(&ticket("ready", "0\n"));
    let mut saves = [ticket("ready", "1\n"), ticket("ready", "2\n")].into_iter();
    let (_, found) = edit_alone(&bench.file, &mut |_| {
        saves.next().into_iter().for_each(|text| bench.save(&text));
        Ok::<_, Infallible>(vec![Change::text("state", "queued")])
    })
    .unwrap();
    assert_eq!(bench.text(), ticket("queued", "2\n"));
    assert_eq!(found, []);
}

#[test]
fn the_same_key_changed_in_between_is_a_conflict_and_nothing_of_the_edit_is_kept() {
    let bench = Bench::new(&ticket("ready", "b\n"));
    match bench.set_state_while(&[&ticket("done", "theirs\n")]) {
        Err(SwapError::Conflict(Clash { key, theirs, ours })) => {
            assert_eq!((key.as_str(), theirs.as_str(), ours.as_str()), ("state", "done", "queued"));
        }
        other => panic!("{other:?}"),
    }
    assert_eq!(bench.text(), ticket("done", "theirs\n"));
    assert_eq!(bench.names(), ["t.md"]);
}

#[test]
fn the_same_value_from_both_is_no_conflict() {
    let bench = Bench::new(&ticket("ready", "b\n"));
    bench.set_state_while(&[&ticket("queued", "theirs\n")]).unwrap();
    assert_eq!(bench.text(), ticket("queued", "theirs\n"));
}

#[test]
fn a_text_that_cannot_be_edited_any_more_is_left_as_the_other_writer_made_it() {
    let bench = Bench::new(&ticket("ready", "b\n"));
    let broken = "---\nstate: ready\nstate: done\n---\n";
    assert!(matches!(bench.set_state_while(&[broken]), Err(SwapError::Unsafe(_))));
    assert_eq!(bench.text(), broken);
    assert_eq!(bench.names(), ["t.md"]);
}

#[test]
fn a_text_longer_than_any_ticket_is_put_back_whole() {
    let bench = Bench::new(&ticket("ready", "b\n"));
    let long = ticket("ready", &"longer than a ticket may be\n".repeat(200_000));
    assert!(matches!(bench.set_state_while(&[&long]), Err(SwapError::Unsafe(_))));
    assert!(bench.text() == long, "{} bytes of {}", bench.text().len(), long.len());
    assert_eq!(bench.names(), ["t.md"]);
}

#[test]
fn a_decision_that_refuses_on_the_newest_text_leaves_it() {
    let bench = Bench::new(&ticket("ready", "b\n"));
    let mut first = true;
    let refused = edit(&bench.file, &mut |text| {
        if std::mem::take(&mut first) {
            bench.save(&ticket("planning", "theirs\n"));
            return Ok(vec![Change::text("labels", "x")]);
        }
        assert_eq!(text, ticket("planning", "theirs\n").as_bytes());
        Err("not from planning")
    });
    assert!(matches!(refused, Err(SwapError::Refused("not from planning"))));
    assert_eq!(bench.text(), ticket("planning", "theirs\n"));
    assert_eq!(bench.names(), ["t.md"]);
}

#[test]
fn lists_that_both_sides_add_to_hold_both_items() {
    let bench = Bench::new("---\nlabels: [a]\n---\n");
    let mut first = true;
    edit(&bench.file, &mut |_| {
        if std::mem::take(&mut first) {
            bench.save("---\nlabels: [a, theirs]\n---\n");
        }
        Ok::<_, Infallible>(vec![Change::Add("labels".into(), "ours".into())])
    })
    .unwrap();
    assert_eq!(bench.text(), "---\nlabels: [a, theirs, ours]\n---\n");
}

#[test]
fn a_file_removed_in_between_stays_removed() {
    let bench = Bench::new(&ticket("ready", "b\n"));
    let result = edit(&bench.file, &mut |_| {
        fs::remove_file(&bench.file).unwrap();
        Ok::<_, Infallible>(vec![Change::text("state", "queued")])
    });
    assert!(matches!(result, Err(SwapError::Absent)));
    assert_eq!(bench.names(), Vec::<String>::new());
    assert!(matches!(bench.set_state_while(&[]), Err(SwapError::Absent)));
}

/// What comes out of the first exchange was saved in the last moment; and before the second one an editor that keeps a
/// backup has moved our text away, and writes it anew with a line of its own.
#[test]
fn a_file_that_is_not_there_for_a_moment_is_waited_for() {
    let bench = Bench::new(&ticket("ready", "0\n"));
    let (file, new, backup) =
        (bench.file.clone(), bench.folder.path().join("editor"), bench.folder.path().join("t.md~"));
    let mut nth = 0;
    let (writing, written) = std::sync::mpsc::channel();
    hook::set("before-exchange", move || {
        nth += 1;
        if nth == 1 {
            fs::write(&new, ticket("ready", "0\n1\n")).unwrap();
            fs::rename(&new, &file).unwrap();
        } else if nth == 2 {
            fs::rename(&file, &backup).unwrap();
            let (file, backup) = (file.clone(), backup.clone());
            let writes = move || {
                std::thread::sleep(Duration::from_millis(30));
                fs::write(&file, fs::read_to_string(&backup).unwrap() + "2\n").unwrap();
                fs::remove_file(&backup).unwrap();
            };
            writing.send(std::thread::spawn(writes)).unwrap();
        }
    });
    let (swapped, found) =
        edit_alone(&bench.file, &mut |_| Ok::<_, Infallible>(vec![Change::text("state", "queued")])).unwrap();
    written.recv().unwrap().join().unwrap();
    assert_eq!(bench.text(), ticket("queued", "0\n2\n"));
    assert_eq!(String::from_utf8(swapped.after).unwrap(), bench.text());
    let [Found::Conflict { kept, .. }] = &found[..] else { panic!("{found:?}") };
    assert_eq!(fs::read_to_string(kept).unwrap(), ticket("ready", "0\n1\n"));
}

/// The ways of file systems without an exchange, with hard links and without.
#[test]
fn without_an_exchange_only_the_expected_text_is_replaced() {
    for links in [true, false] {
        hook::allow();
        hook::set("nowhere", || {});
        hook::refuse("exchange", Errno::INVAL);
        if !links {
            hook::refuse("link", Errno::PERM);
        }
        let bench = Bench::new(&ticket("ready", "0\n"));
        bench.set_state_while(&[]).unwrap();
        assert_eq!((bench.text(), bench.names()), (ticket("queued", "0\n"), vec!["t.md".to_owned()]));
        let bench = Bench::new(&ticket("ready", "0\n"));
        bench.set_state_while(&[&ticket("ready", "1\n")]).unwrap();
        assert_eq!((bench.text(), bench.names()), (ticket("queued", "1\n"), vec!["t.md".to_owned()]));
        for in_place in [false, true] {
            let bench = Bench::new(&ticket("ready", "0\n"));
            let texts = [ticket("ready", "0\n1\n"), ticket("ready", "0\n1\n2\n")];
            let (_, found) = bench.set_state_and("before-exchange", in_place, &[&texts[0], &texts[1]]).unwrap();
            assert_eq!((bench.text(), found), (ticket("queued", "0\n1\n2\n"), vec![]));
            assert_eq!(bench.names(), ["t.md"]);
            let (_, found) = bench.set_state_and("after-exchange", in_place, &[&ticket("ready", "old\n")]).unwrap();
            assert_eq!((bench.text(), found), (ticket("queued", "0\n1\n2\n"), vec![]), "nothing was to be changed");
        }
    }
}

/// Who writes into the file between the comparison and the rename has written into what the second name names.
#[test]
fn without_an_exchange_what_is_written_in_the_last_moment_is_found_by_the_second_name() {
    hook::refuse("exchange", Errno::INVAL);
    let bench = Bench::new(&ticket("ready", "0\n"));
    let (swapped, found) = bench.set_state_and("before-rename", true, &[&ticket("ready", "0\n1\n")]).unwrap();
    assert_eq!((bench.text(), found), (ticket("queued", "0\n1\n"), vec![]));
    assert_eq!(String::from_utf8(swapped.after).unwrap(), bench.text());
    assert_eq!(bench.names(), ["t.md"]);
    assert_eq!(fs::metadata(&bench.file).unwrap().nlink(), 1);
}

#[test]
fn an_exchange_that_fails_for_any_other_reason_is_no_reason_to_rename() {
    for errno in [Errno::IO, Errno::PERM, Errno::XDEV, Errno::NOSPC] {
        hook::allow();
        hook::refuse("exchange", errno);
        let bench = Bench::new(&ticket("ready", "0\n"));
        let Err(SwapError::Io(error)) = bench.set_state_while(&[]) else { panic!("{errno}") };
        assert_eq!(error.raw_os_error(), Some(errno.raw_os_error()));
        assert_eq!((bench.text(), bench.names()), (ticket("ready", "0\n"), vec!["t.md".to_owned()]));
    }
}

#[test]
fn an_endless_writer_ends_the_edit_with_the_newest_text_kept() {
    let bench = Bench::new(&ticket("ready", "0\n"));
    let mut n = 0;
    let result = edit(&bench.file, &mut |_| {
        n += 1;
        bench.save(&ticket("ready", &format!("{n}\n")));
        Ok::<_, Infallible>(vec![Change::text("state", "queued")])
    });
    let Err(SwapError::Io(error)) = result else { panic!("{result:?}") };
    assert_eq!(bench.text(), ticket("ready", &format!("{n}\n")), "{error}");
}

#[test]
fn mode_symlink_byte_order_mark_and_line_ends_stay() {
    let text = "\u{feff}---\r\nstate: ready\r\n---\r\nb\r\n";
    let bench = Bench::new(text);
    fs::set_permissions(&bench.file, Permissions::from_mode(0o664)).unwrap();
    let link = bench.folder.path().join("link.md");
    symlink("t.md", &link).unwrap();
    edit(&link, &mut |_| Ok::<_, Infallible>(vec![Change::text("state", "queued")])).unwrap();
    assert!(link.is_symlink());
    assert_eq!(bench.text(), text.replace("ready", "queued"));
    assert_eq!(fs::metadata(&bench.file).unwrap().mode() & 0o7777, 0o664);
}

#[test]
fn a_very_long_file_name_is_edited_too() {
    let bench = Bench::new("");
    let long = bench.folder.path().join(format!("{}.md", "ü".repeat(126)));
    fs::write(&long, ticket("ready", "")).unwrap();
    edit(&long, &mut |_| Ok::<_, Infallible>(vec![Change::text("state", "queued")])).unwrap();
    assert_eq!(fs::read_to_string(&long).unwrap(), ticket("queued", ""));
}

/// Eight writers, each of a key of its own: every acknowledged edit is in the file.
#[test]
fn writers_of_different_keys_all_win() {
    let bench = Bench::new(&ticket("ready", "b\n"));
    std::thread::scope(|scope| {
        for writer in 0..8 {
            let file = &bench.file;
            scope.spawn(move || {
                for n in 0..4 {
                    let changes = vec![Change::text(&format!("k{writer}"), format!("v{n}"))];
                    edit(file, &mut |_| Ok::<_, Infallible>(changes.clone())).unwrap();
                }
            });
        }
    });
    for writer in 0..8 {
        assert!(bench.text().contains(&format!("\nk{writer}: v3\n")), "{}", bench.text());
    }
    assert_eq!(bench.names(), ["t.md"]);
}

/// Whoever reads while edits go on sees one whole text or another.
#[test]
fn a_reader_never_sees_half_a_file() {
    let bench = Bench::new(&ticket("ready", &"body\n".repeat(2000)));
    let done = AtomicBool::new(false);
    std::thread::scope(|scope| {
        scope.spawn(|| {
            for n in 0..50 {
                let changes = vec![Change::text("state", format!("s{n}"))];
                edit(&bench.file, &mut |_| Ok::<_, Infallible>(changes.clone())).unwrap();
            }
            done.store(true, Ordering::Release);
        });
        while !done.load(Ordering::Acquire) {
            let text = bench.text();
            assert!(text.starts_with("---\ntitle: x\nstate: ") && text.ends_with("body\n"), "{} bytes", text.len());
        }
    });
}
