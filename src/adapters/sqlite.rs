//! The store in one SQLite file: WAL, several processes at a time. DESIGN.md 7.3; FAULTS kinds 15 and 22.
//!
//! Must not know: what a record is for. It never deletes a file, damaged or not.

mod lasting;
mod opening;
#[cfg(test)]
mod tests;

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use chrono::SecondsFormat;
use rusqlite::{Connection, OptionalExtension, Row, params};
use serde::Serialize;
use serde::de::DeserializeOwned;

pub use lasting::LastingStore;

use crate::domain::engine::{LastSeen, Record, RecordKind};
use crate::domain::ledger::SavedLedger;
use crate::domain::ticket::{TicketId, Timestamp};
use crate::ports::{Query, Recorded, Store, StoreError, Stored};

/// What to do with a file that is of no use any more.
const MOVE_AWAY: &str =
    "move it away (`yoi doctor --fix` does) and yoi begins a new one (history is lost, no ticket is)";

/// The store of one workspace, in a file.
#[derive(Debug)]
pub struct SqliteStore {
    path: PathBuf,
    connection: Connection,
}

impl SqliteStore {
    /// Opens the file, or creates it (mode 0600, missing folders 0700). An older schema is brought up to date; a newer
    /// one, and a file that is no store of yoi's, are refused and stay as they are.
    pub fn open(path: &Path) -> Result<Self, StoreError> {
        Self::open_knowing(path, &opening::MIGRATIONS)
    }

    fn open_knowing(path: &Path, migrations: &[&str]) -> Result<Self, StoreError> {
        let connection = opening::open(path, migrations)?;
        Ok(Self { path: path.to_path_buf(), connection })
    }

    /// Whether the file's structure is whole.
    pub fn check(&self) -> Result<(), StoreError> {
        let said =
            || -> Result<String, Why> { Ok(self.connection.query_row("PRAGMA quick_check(1)", [], |row| row.get(0))?) };
        match said().map_err(|why| self.failed(&why))?.as_str() {
            "ok" => Ok(()),
            what => {
                let message = format!("the file is damaged: {what}; {MOVE_AWAY}");
                Err(StoreError::Damaged { path: self.path.display().to_string(), message })
            }
        }
    }

    fn failed(&self, why: &Why) -> StoreError {
        why.at(&self.path)
    }

    /// All or nothing: an error, a full disk for one, leaves the store as it was.
    fn in_transaction<T>(&mut self, work: impl FnOnce(&Connection) -> Result<T, Why>) -> Result<T, StoreError> {
        let done = (|| {
            // Immediate: what reads and then writes in one transaction cannot be overtaken in between.
            let transaction = self.connection.transaction_with_behavior(rusqlite::TransactionBehavior::Immediate)?;
            let answer = work(&transaction)?;
            transaction.commit()?;
            Ok(answer)
        })();
        done.map_err(|why: Why| self.failed(&why))
    }
}

/// What went wrong inside, before the file's name is put to it.
#[derive(Debug, thiserror::Error)]
enum Why {
    #[error(transparent)]
    Sqlite(#[from] rusqlite::Error),
    #[error("{0}")]
    Said(String),
}

impl Why {
    fn at(&self, path: &Path) -> StoreError {
        use rusqlite::ErrorCode::{DatabaseBusy, DatabaseCorrupt, DiskFull, NotADatabase};
        let code = match self {
            Why::Sqlite(error) => error.sqlite_error_code(),
            Why::Said(_) => None,
        };
        // What SQLite keeps beside the store has no room.
        let no_room = matches!(self, Why::Sqlite(rusqlite::Error::SqliteFailure(error, _))
            if error.extended_code == rusqlite::ffi::SQLITE_IOERR_SHMSIZE);
        let path = path.display().to_string();
        let advice = match code {
            Some(DatabaseCorrupt | NotADatabase) => {
                let message = format!("{self}: the file is damaged, or no store of yoi's; {MOVE_AWAY}");
                return StoreError::Damaged { path, message };
            }
            Some(DatabaseBusy) => ": another process has held the store for more than 5 s",
            Some(DiskFull) => ": nothing was written; make room on the disk",
            _ if no_room => ": nothing was written; make room on the disk",
            _ => "",
        };
        StoreError::Failed { path, message: format!("{self}{advice}") }
    }
}

impl Store for SqliteStore {
    fn append(&mut self, records: &[Record]) -> Result<i64, StoreError> {
        self.in_transaction(|connection| {
            let mut insert =
                connection.prepare("INSERT INTO records (at, kind, ticket, data) VALUES (?1, ?2, ?3, ?4)")?;
            for record in records {
                let ticket = record.ticket.as_ref().map(TicketId::as_str);
                insert.execute(params![written(record.at), record.kind.as_str(), ticket, json(&record.data)?])?;
            }
            let last = "SELECT coalesce(max(seq), 0) FROM sqlite_sequence WHERE name = 'records'";
            let last = connection.query_row(last, [], |row| row.get("coalesce(max(seq), 0)"))?;
            forget_oldest(connection, last, records.len())?;
            Ok(last)
        })
    }

    fn records(&self, query: &Query) -> Result<Vec<Stored>, StoreError> {
        // Only the conditions that are set, so that each query can use its index.
        let mut sql = "SELECT seq, at, kind, ticket, data FROM records WHERE seq > ?1".to_owned();
        sql.push_str(if query.ticket.is_some() { " AND ticket = ?2" } else { " AND ?2 IS NULL" });
        sql.push_str(if query.since.is_some() { " AND at >= ?3" } else { " AND ?3 IS NULL" });
        let (order, most) = match query.oldest {
            Some(oldest) => (" ORDER BY seq LIMIT ?4", Some(oldest)),
            None => (" ORDER BY seq DESC LIMIT ?4", query.newest),
        };
        sql.push_str(order);
        let ticket = query.ticket.as_ref().map(TicketId::as_str);
        let most = most.map_or(-1, |most| i64::try_from(most).unwrap_or(i64::MAX));
        let read = || -> Result<Vec<Stored>, Why> {
            let mut statement = self.connection.prepare(&sql)?;
            let values = params![query.after.unwrap_or(0), ticket, query.since.map(written), most];
            let mut rows = statement.query(values)?;
            let mut found = Vec::new();
            while let Some(row) = rows.next()? {
                found.push(stored(row)?);
            }
            found.sort_by_key(|stored| stored.seq);
            Ok(found)
        };
        read().map_err(|why| self.failed(&why))
    }

    fn ledger(&self) -> Result<SavedLedger, StoreError> {
        let kept = kept(&self.connection, "ledger").map_err(|why| self.failed(&why))?;
        Ok(kept.unwrap_or_default())
    }

    fn save_ledger(&mut self, ledger: &SavedLedger) -> Result<(), StoreError> {
        self.in_transaction(|connection| keep(connection, "ledger", ledger))
    }

    fn last_seen(&self) -> Result<Option<Recorded>, StoreError> {
        let read = || -> Result<Option<Recorded>, Why> {
            // One transaction, so that the time belongs to the states.
            let transaction = self.connection.unchecked_transaction()?;
            let Some(at) = kept(&transaction, "seen_at")? else { return Ok(None) };
            let mut statement = transaction.prepare("SELECT ticket, data FROM seen")?;
            let mut rows = statement.query([])?;
            let mut seen = BTreeMap::new();
            while let Some(row) = rows.next()? {
                let ticket: String = row.get("ticket")?;
                let found: LastSeen =
                    from_json(&row.get::<_, String>("data")?, &format!("the last state of {ticket}"))?;
                seen.insert(TicketId::new(ticket), found);
            }
            Ok(Some(Recorded { seen, at }))
        };
        read().map_err(|why| self.failed(&why))
    }

    fn save_seen(&mut self, seen: &[(TicketId, Option<LastSeen>)], at: Timestamp) -> Result<(), StoreError> {
        self.in_transaction(|connection| {
            let mut put = connection.prepare("INSERT OR REPLACE INTO seen (ticket, data) VALUES (?1, ?2)")?;
            let mut forget = connection.prepare("DELETE FROM seen WHERE ticket = ?1")?;
            for (ticket, seen) in seen {
                match seen {
                    Some(seen) => put.execute(params![ticket.as_str(), json(seen)?])?,
                    None => forget.execute(params![ticket.as_str()])?,
                };
            }
            keep(connection, "seen_at", &at)
        })
    }
}

/// How many records are kept: about a hundred megabytes, years of a busy workspace.
const MOST_RECORDS: i64 = 200_000;
/// How many are forgotten at once: seldom enough to cost nothing, few enough to hold nobody up.
const AT_ONCE: i64 = 1_000;

/// The history has a bound like everything else. Each time another thousand is full, what lies beyond it goes.
fn forget_oldest(connection: &Connection, last: i64, added: usize) -> Result<(), Why> {
    let before = last - i64::try_from(added).unwrap_or(AT_ONCE);
    if last / AT_ONCE != before / AT_ONCE {
        connection.execute("DELETE FROM records WHERE seq <= ?1", [last - MOST_RECORDS])?;
    }
    Ok(())
}

fn keep<T: Serialize>(connection: &Connection, key: &str, value: &T) -> Result<(), Why> {
    let sql = "INSERT OR REPLACE INTO kept (key, value) VALUES (?1, ?2)";
    connection.prepare(sql)?.execute(params![key, json(value)?])?;
    Ok(())
}

fn kept<T: DeserializeOwned>(connection: &Connection, key: &str) -> Result<Option<T>, Why> {
    let mut statement = connection.prepare("SELECT value FROM kept WHERE key = ?1")?;
    let text: Option<String> = statement.query_row([key], |row| row.get("value")).optional()?;
    text.map(|text| from_json(&text, &format!("`{key}`"))).transpose()
}

fn stored(row: &Row<'_>) -> Result<Stored, Why> {
    let seq: i64 = row.get("seq")?;
    let (kind, at, data): (String, String, String) = (row.get("kind")?, row.get("at")?, row.get("data")?);
    let what = format!("record {seq}");
    let known = RecordKind::ALL.iter().copied().find(|known| known.as_str() == kind);
    let record = Record {
        kind: known.ok_or_else(|| Why::Said(format!("{what} has the unknown kind `{kind}`")))?,
        at: at.parse().map_err(|error| Why::Said(format!("{what} has no readable time (`{at}`): {error}")))?,
        ticket: row.get::<_, Option<String>>("ticket")?.map(TicketId::new),
        data: from_json(&data, &what)?,
    };
    Ok(Stored { seq, record })
}

/// Always nine digits of a second: text order is time order, and nothing is rounded.
fn written(at: Timestamp) -> String {
    at.to_rfc3339_opts(SecondsFormat::Nanos, true)
}

fn json<T: Serialize>(value: &T) -> Result<String, Why> {
    serde_json::to_string(value).map_err(|error| Why::Said(format!("cannot be written as JSON: {error}")))
}

fn from_json<T: DeserializeOwned>(text: &str, what: &str) -> Result<T, Why> {
    serde_json::from_str(text).map_err(|error| Why::Said(format!("{what} cannot be read: {error}")))
}
