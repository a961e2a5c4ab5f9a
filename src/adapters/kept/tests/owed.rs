//! Changes that somebody took back, and the reports of them that are owed until one is on record.

use super::*;

impl Bench {
    /// What this look has told is on record.
    pub(super) fn told(&self, seconds: i64) -> Vec<String> {
        let mut journal = self.journal();
        let found = journal.review(&Looking::new(Utc::now() + TimeDelta::seconds(seconds))).found;
        for found in &found {
            if let Found::SavedOver { debt: Some(name), .. } = found {
                journal.on_record(name).unwrap();
            }
        }
        found.into_iter().map(|found| self.shown(found)).collect()
    }
}

#[test]
fn a_report_is_owed_until_it_is_on_record_whatever_is_written_meanwhile() {
    let bench = Bench::new(&ticket("b\n"));
    let old = bench.text();
    bench.set("k", "1");
    bench.save(&old.replace("b\n", "more\n"));
    assert_eq!(bench.look(1), ["k news"]);
    assert_eq!(bench.look(2), ["k news"], "whoever saw it first has died");
    bench.set("l", "1");
    assert_eq!(bench.look(3), ["k news"], "a request does not make it the past");
    bench.journal().rewritten().unwrap();
    assert_eq!(bench.look(4), ["k news"], "nor does a journal made shorter");
    assert!(bench.kept.owing().contains(&bench.file));
    // The texts are gone, and the exchange is too old to be remembered.
    bench.look(60 * 60 * 5);
    assert_eq!(bench.told(60 * 60 * 5), ["k news"]);
    assert_eq!(bench.told(6), [""; 0]);
    assert!(bench.kept.owing().is_empty());
}

/// The edit itself finds it, and its process dies before it has told anybody.
#[test]
fn what_an_edit_finds_is_owed_after_it() {
    let bench = Bench::new(&ticket("b\n"));
    let old = bench.text();
    bench.set("k", "1");
    bench.save(&old.replace("b\n", "more\n"));
    bench.set("l", "1");
    assert_eq!(bench.told(1), ["k news"]);
    bench.save(&old.replace("b\n", "again\n"));
    assert_eq!(bench.told(2), ["l news"]);
    assert_eq!(bench.told(3), ["l"]);
    bench.journal().rewritten().unwrap();
    assert_eq!(bench.told(4), ["l"]);
}

/// What yoi had put there was seen, and saved with other words, before yoi had looked at what came out: nothing is left to
/// write. The edit is done all the same, and whoever had read before it takes it back.
#[test]
fn an_edit_that_ends_without_another_exchange_can_be_saved_over() {
    let bench = Bench::new(&ticket("b\n"));
    let old = bench.text();
    let (file, new) = (bench.file.clone(), bench.file.with_file_name("editor"));
    let save = move |text: &str| {
        fs::write(&new, text).unwrap();
        fs::rename(&new, &file).unwrap();
    };
    let mut saves = vec![ticket("b\nseen\n").replace("ready\n", "ready\nk: \"1\"\n"), ticket("b\n1\n")];
    hook::set("before-exchange", move || {
        let text = saves.pop();
        if let Some(text) = &text {
            save(text);
        }
        // The other one is between the look at what came out and the next exchange.
        if let Some(next) = saves.pop() {
            let save = save.clone();
            AFTER.with_borrow_mut(|after| *after = Some(Box::new(move || save(&next))));
        }
    });
    let mut decide = |_: &[u8]| {
        AFTER.take().into_iter().for_each(|save| save());
        Ok::<_, Infallible>(vec![Change::text("k", "1")])
    };
    swap::edit(&mut bench.journal(), false, Duration::from_secs(5), &mut decide).unwrap();
    hook::set("nowhere", || {});
    assert_eq!(bench.text(), ticket("b\nseen\n").replace("ready\n", "ready\nk: \"1\"\n"));
    bench.journal().rewritten().unwrap();
    bench.save(&old.replace("b\n", "old\n"));
    assert!(bench.told(1).contains(&"k news".to_owned()));
}

thread_local! {
    static AFTER: std::cell::RefCell<Option<Box<dyn FnOnce()>>> = const { std::cell::RefCell::new(None) };
}

/// Somebody slow has written what takes a change back into a displaced text; it does not come into the file, because
/// somebody else saves at the same moment. So nothing is lost; what is lost later is said then.
#[test]
fn a_merge_that_is_called_off_has_taken_nothing_back() {
    let bench = Bench::new(&ticket("b\n"));
    let old = bench.text();
    bench.set("k", "1");
    let slow = bench.open();
    bench.set("l", "1");
    write_on(slow, &old.replace("b\n", "slow\n"));
    let theirs = bench.text().replace("b\n", "theirs\n");
    let (file, new, text) = (bench.file.clone(), bench.file.with_file_name("editor"), theirs.clone());
    hook::set("before-merge", move || {
        fs::write(&new, &text).unwrap();
        fs::rename(&new, &file).unwrap();
    });
    let found = bench.told(1);
    hook::set("nowhere", || {});
    assert_eq!(bench.text(), theirs);
    assert!(
        matches!(&found[..], [one] if one.starts_with("the ticket's file was saved by somebody else")),
        "{found:?}"
    );
    assert!(bench.kept.owing().is_empty());
    assert_eq!(bench.told(2), [""; 0]);
    bench.save(&old);
    assert_eq!(bench.told(3), ["k,l news"]);
}
