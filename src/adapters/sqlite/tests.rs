//! One contract for the file and the fake; then what only a file can suffer.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::process::Command;

use chrono::{TimeDelta, TimeZone, Utc};
use serde_json::json;
use tempfile::TempDir;

use super::*;
use crate::adapters::fakes::MemoryStore;
use crate::domain::ticket::State;

fn at(second: i64) -> Timestamp {
    Utc.timestamp_opt(1_800_000_000 + second, 123_456_789).unwrap()
}

fn record(second: i64, kind: RecordKind, ticket: Option<&str>) -> Record {
    Record {
        kind,
        at: at(second),
        ticket: ticket.map(TicketId::from),
        data: json!({"n": second, "text": "ä\u{0}\"'\n"}),
    }
}

fn seqs(store: &dyn Store, query: &Query) -> Vec<i64> {
    store.records(query).unwrap().iter().map(|stored| stored.seq).collect()
}

/// What everybody may rely on. `reopen` gives the store as the next process would find it.
fn contract<S: Store>(mut store: S, reopen: impl Fn(S) -> S) {
    assert_eq!(store.append(&[]).unwrap(), 0);
    assert_eq!(store.records(&Query::default()).unwrap(), []);
    assert_eq!(store.ledger().unwrap(), SavedLedger::default());
    assert_eq!(store.last_seen().unwrap(), None);

    let kinds = RecordKind::ALL.iter().copied().take(16).zip(1..);
    let tickets = [Some("a"), None, Some("b/ü 'x'"), Some("a")];
    let records: Vec<Record> = kinds.zip(tickets.iter().cycle()).map(|((k, n), t)| record(n, k, *t)).collect();
    assert_eq!(store.append(&records[..3]).unwrap(), 3);
    assert_eq!(store.append(&records[3..]).unwrap(), 16);
    assert_eq!(store.append(&[]).unwrap(), 16);
    let mut store = reopen(store);
    let found = store.records(&Query::default()).unwrap();
    assert_eq!(found.iter().map(|stored| stored.seq).collect::<Vec<_>>(), (1..=16).collect::<Vec<_>>());
    assert_eq!(found.into_iter().map(|stored| stored.record).collect::<Vec<_>>(), records);

    let query = Query::default();
    let of = |id: &str| Some(TicketId::from(id));
    let table = [
        (Query { after: Some(13), ..query.clone() }, vec![14, 15, 16]),
        (Query { after: Some(99), ..query.clone() }, vec![]),
        (Query { ticket: of("a"), newest: Some(3), ..query.clone() }, vec![12, 13, 16]),
        (Query { ticket: of("b/ü 'x'"), ..query.clone() }, vec![3, 7, 11, 15]),
        (Query { ticket: of("nobody"), ..query.clone() }, vec![]),
        (Query { since: Some(at(15)), ..query.clone() }, vec![15, 16]),
        (Query { since: Some(at(15) + TimeDelta::nanoseconds(1)), ..query.clone() }, vec![16]),
        (Query { newest: Some(0), ..query.clone() }, vec![]),
        (Query { newest: Some(2), ..query.clone() }, vec![15, 16]),
        (Query { after: Some(4), ticket: of("a"), since: Some(at(8)), newest: Some(2), oldest: None }, vec![13, 16]),
        (Query { oldest: Some(2), ..query.clone() }, vec![1, 2]),
        (Query { ticket: of("a"), after: Some(12), oldest: Some(1), ..query.clone() }, vec![13]),
    ];
    for (query, expected) in table {
        assert_eq!(seqs(&store, &query), expected, "{query:?}");
    }

    let ledger = SavedLedger {
        rate_limited_until: Some(at(9)),
        failures: 2,
        fruitless: 1,
        fruitless_at: vec![at(1), at(2)],
        ..SavedLedger::default()
    };
    store.save_ledger(&ledger).unwrap();
    let seen = |state, second| LastSeen { state, needs_human: second % 2 == 1, at: at(second) };
    let (one, two) = (seen(Some(State::Queued), 1), seen(None, 2));
    store.save_seen(&[], at(0)).unwrap();
    assert_eq!(store.last_seen().unwrap(), Some(Recorded { seen: BTreeMap::new(), at: at(0) }));
    store.save_seen(&[("a".into(), Some(one.clone())), ("b".into(), Some(one.clone()))], at(3)).unwrap();
    store.save_seen(&[("a".into(), None), ("b".into(), Some(two.clone())), ("ghost".into(), None)], at(4)).unwrap();
    let store = reopen(store);
    assert_eq!(store.ledger().unwrap(), ledger);
    assert_eq!(store.last_seen().unwrap(), Some(Recorded { seen: [("b".into(), two)].into(), at: at(4) }));
}

struct Place {
    folder: TempDir,
}

impl Place {
    fn new() -> Self {
        Self { folder: TempDir::new().unwrap() }
    }

    fn path(&self) -> PathBuf {
        self.folder.path().join("state/store.sqlite")
    }

    fn open(&self) -> SqliteStore {
        SqliteStore::open(&self.path()).unwrap()
    }

    fn holding(bytes: &[u8]) -> Self {
        let place = Self::new();
        fs::create_dir(place.path().parent().unwrap()).unwrap();
        fs::write(place.path(), bytes).unwrap();
        place
    }
}

#[test]
fn the_fake_and_the_file_keep_the_same_contract() {
    contract(MemoryStore::default(), |store| store);
    let place = Place::new();
    contract(place.open(), |store| {
        drop(store);
        place.open()
    });
}

#[test]
fn the_fake_is_stricter() {
    let mut store = MemoryStore::default();
    let odd = Record { data: json!([1]), ..record(1, RecordKind::Inbox, None) };
    assert!(store.append(&[odd]).is_err());
    assert!(store.append(&[record(1, RecordKind::Inbox, Some(""))]).is_err());
    store.save_seen(&[], at(2)).unwrap();
    assert!(store.save_seen(&[], at(1)).is_err());
    store.full = true;
    assert!(store.append(&[record(1, RecordKind::Inbox, None)]).is_err());
}

#[test]
fn all_its_files_are_private() {
    let place = Place::holding(b"");
    fs::set_permissions(place.path(), fs::Permissions::from_mode(0o644)).unwrap();
    let mut store = place.open();
    store.append(&[record(1, RecordKind::Inbox, None)]).unwrap();
    let mut names = vec![];
    for entry in fs::read_dir(place.path().parent().unwrap()).unwrap().flatten() {
        assert_eq!(entry.metadata().unwrap().permissions().mode() & 0o777, 0o600, "{entry:?}");
        names.push(entry.file_name().into_string().unwrap());
    }
    names.sort();
    assert_eq!(names, ["store.sqlite", "store.sqlite-shm", "store.sqlite-wal"]);
}

#[test]
fn numbers_are_never_used_twice() {
    let place = Place::new();
    let mut store = place.open();
    store.append(&[record(1, RecordKind::Inbox, None), record(2, RecordKind::Inbox, None)]).unwrap();
    store.connection.execute("DELETE FROM records", []).unwrap();
    assert_eq!(store.append(&[]).unwrap(), 2);
    assert_eq!(store.append(&[record(3, RecordKind::Inbox, None)]).unwrap(), 3);
}

#[test]
fn several_writers_see_each_others_records_and_lose_none() {
    let place = Place::new();
    let writers: Vec<_> = (0..4)
        .map(|writer| {
            let path = place.path();
            // From opening on: four at once create, switch and migrate the same new file.
            std::thread::spawn(move || {
                let mut store = SqliteStore::open(&path).unwrap();
                for n in 0..50 {
                    store.append(&[record(n, RecordKind::Inbox, Some(&format!("t{writer}")))]).unwrap();
                }
            })
        })
        .collect();
    for writer in writers {
        writer.join().unwrap();
    }
    let store = place.open();
    assert_eq!(seqs(&store, &Query::default()), (1..=200).collect::<Vec<_>>());
    assert_eq!(seqs(&store, &Query { ticket: Some("t3".into()), ..Query::default() }).len(), 50);
}

#[test]
fn a_newer_store_is_refused_and_stays_as_it_is() {
    let place = Place::new();
    let newer = [opening::MIGRATIONS[0], "CREATE TABLE invented_later (x) STRICT;"];
    let newer = newer.map(|sql| sql.replace("(x)", "(x TEXT)"));
    let newer: Vec<&str> = newer.iter().map(String::as_str).collect();
    let mut store = SqliteStore::open_knowing(&place.path(), &newer).unwrap();
    store.append(&[record(1, RecordKind::Inbox, None)]).unwrap();
    // Still open: what it wrote lies in the log, and looking must not move it into the file.
    let before = fs::read(place.path()).unwrap();
    let error = SqliteStore::open(&place.path()).unwrap_err();
    assert!(matches!(error, StoreError::Newer { found: 2, known: 1, .. }), "{error}");
    assert!(error.to_string().contains("upgrade yoi"), "{error}");
    assert_eq!(fs::read(place.path()).unwrap(), before);
    drop(store);
    let before = fs::read(place.path()).unwrap();
    SqliteStore::open(&place.path()).unwrap_err();
    assert_eq!(fs::read(place.path()).unwrap(), before);
}

#[test]
fn an_older_store_is_brought_up_to_date_with_what_it_holds() {
    let place = Place::new();
    place.open().append(&[record(1, RecordKind::Inbox, None)]).unwrap();
    let later = [opening::MIGRATIONS[0], "ALTER TABLE records ADD COLUMN agent TEXT;"];
    for _ in 0..2 {
        let store = SqliteStore::open_knowing(&place.path(), &later).unwrap();
        assert_eq!(seqs(&store, &Query::default()), [1]);
        store.connection.execute("UPDATE records SET agent = 'x'", []).unwrap();
    }
    assert!(matches!(SqliteStore::open(&place.path()), Err(StoreError::Newer { .. })));
}

#[test]
fn a_migration_that_fails_changes_nothing() {
    let place = Place::new();
    place.open();
    let broken = [opening::MIGRATIONS[0], "CREATE TABLE half (x TEXT) STRICT; CREATE TABLE seen (x TEXT) STRICT;"];
    SqliteStore::open_knowing(&place.path(), &broken).unwrap_err();
    let store = place.open();
    let half = "SELECT count(*) FROM sqlite_schema WHERE name = 'half'";
    assert_eq!(store.connection.query_row(half, [], |row| row.get::<_, i64>(0)).unwrap(), 0);
}

#[test]
fn a_damaged_file_is_refused_by_name_and_stays_as_it_is() {
    let good = {
        let place = Place::new();
        let mut store = place.open();
        store.append(&vec![record(1, RecordKind::Inbox, Some("a")); 500]).unwrap();
        drop(store);
        fs::read(place.path()).unwrap()
    };
    let mut schema_lost = good.clone();
    schema_lost[100..4096].fill(0xff);
    let table: [(&str, Vec<u8>); 4] = [
        ("text", b"this is no store, but somebody's notes".repeat(200)),
        ("a header only", b"SQLite format 3\0".to_vec()),
        ("zeros", vec![0; 8192]),
        ("no schema", schema_lost),
    ];
    for (name, bytes) in table {
        let place = Place::holding(&bytes);
        let message = SqliteStore::open(&place.path()).unwrap_err().to_string();
        assert!(message.starts_with(&place.path().display().to_string()), "{name}: {message}");
        assert!(message.contains("move it away"), "{name}: {message}");
        assert_eq!(fs::read(place.path()).unwrap(), bytes, "{name}");
    }
}

#[test]
fn another_programs_file_is_refused() {
    let place = Place::holding(b"");
    Connection::open(place.path()).unwrap().execute_batch("CREATE TABLE bookmarks (url TEXT)").unwrap();
    let before = fs::read(place.path()).unwrap();
    let message = SqliteStore::open(&place.path()).unwrap_err().to_string();
    assert!(message.contains("another program's"), "{message}");
    assert_eq!(fs::read(place.path()).unwrap(), before);
}

#[test]
fn a_record_that_cannot_be_read_is_named() {
    let place = Place::new();
    let mut store = place.open();
    store.append(&[record(1, RecordKind::Inbox, None)]).unwrap();
    for (set, expected) in
        [("kind = 'ODD'", "unknown kind `ODD`"), ("at = 'soon'", "readable time"), ("data = '{'", "EOF")]
    {
        let change = store.connection.unchecked_transaction().unwrap();
        change.execute(&format!("UPDATE records SET {set}"), []).unwrap();
        let message = store.records(&Query::default()).unwrap_err().to_string();
        assert!(message.contains("record 1") && message.contains(expected), "{message}");
        drop(change);
    }
    assert_eq!(seqs(&store, &Query::default()), [1]);
}

#[test]
fn a_full_disk_leaves_everything_as_it_was_and_passes() {
    let place = Place::new();
    let mut store = place.open();
    store.append(&[record(1, RecordKind::Inbox, None)]).unwrap();
    // The same error as from a full disk: SQLite may not make the file larger.
    let pages = |store: &SqliteStore, n: u32| {
        store.connection.pragma_update_and_check(None, "max_page_count", n, |row| row.get::<_, u32>(0)).unwrap()
    };
    pages(&store, 1);
    let many = vec![record(2, RecordKind::Inbox, None); 5_000];
    let message = store.append(&many).unwrap_err().to_string();
    assert!(message.contains("make room"), "{message}");
    assert_eq!(seqs(&store, &Query::default()), [1]);
    pages(&store, 1_000_000);
    assert_eq!(store.append(&many[..2]).unwrap(), 3);
}

#[test]
fn what_a_killed_process_left_is_read_by_the_next() {
    let place = Place::new();
    let mut store = place.open();
    store.append(&[record(1, RecordKind::Inbox, None)]).unwrap();
    // As after kill -9: the log has not been moved into the file.
    let copy = Place::holding(b"");
    for end in ["", "-wal"] {
        let name = |place: &Place| format!("{}{end}", place.path().display());
        assert!(Command::new("cp").args([name(&place), name(&copy)]).status().unwrap().success());
    }
    assert_eq!(seqs(&copy.open(), &Query::default()), [1]);
}

#[test]
fn the_oldest_records_beyond_the_bound_are_forgotten() {
    let folder = TempDir::new().unwrap();
    let mut store = SqliteStore::open(&folder.path().join("store.sqlite")).unwrap();
    for seq in [800_000, 800_001, 999_998] {
        let insert = "INSERT INTO records (seq, at, kind, data) VALUES (?1, ?2, 'INBOX', '{}')";
        store.connection.execute(insert, params![seq, written(at(0))]).unwrap();
    }
    store.append(&[record(1, RecordKind::Inbox, None)]).unwrap();
    assert_eq!(seqs(&store, &Query::default()), [800_000, 800_001, 999_998, 999_999]);
    store.append(&[record(2, RecordKind::Inbox, None)]).unwrap();
    assert_eq!(seqs(&store, &Query::default()), [800_001, 999_998, 999_999, 1_000_000]);
}

#[test]
fn every_kind_is_read_back_as_itself() {
    let folder = TempDir::new().unwrap();
    let mut store = SqliteStore::open(&folder.path().join("store.sqlite")).unwrap();
    let records: Vec<_> = RecordKind::ALL.iter().map(|kind| record(1, *kind, None)).collect();
    store.append(&records).unwrap();
    let found = store.records(&Query::default()).unwrap();
    assert_eq!(found.into_iter().map(|stored| stored.record).collect::<Vec<_>>(), records);
}
