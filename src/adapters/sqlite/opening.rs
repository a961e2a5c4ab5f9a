//! Opening the store's file: who may read it, which schema it has, bringing an older one up to date.
//!
//! Must not know: what is stored.

use std::fs;
use std::io;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::thread;
use std::time::{Duration, Instant};

use rusqlite::{Connection, ErrorCode, OpenFlags, TransactionBehavior};

use super::{MOVE_AWAY, Why};
use crate::adapters::files::{self, Text};
use crate::ports::StoreError;

/// Written into the file's header, so that another program's SQLite file is not taken for a store.
const APPLICATION_ID: i32 = 0x0079_6f69;

/// How long a writer waits for another one.
const BUSY_FOR: Duration = Duration::from_secs(5);

/// The n-th brings a store of version n to version n + 1. Never changed once released, only added to.
pub(super) const MIGRATIONS: [&str; 1] = ["
CREATE TABLE records (
    seq INTEGER PRIMARY KEY AUTOINCREMENT,
    at TEXT NOT NULL,
    kind TEXT NOT NULL,
    ticket TEXT,
    data TEXT NOT NULL
) STRICT;
CREATE INDEX records_of_ticket ON records (ticket, seq) WHERE ticket IS NOT NULL;
CREATE TABLE kept (key TEXT PRIMARY KEY, value TEXT NOT NULL) STRICT, WITHOUT ROWID;
CREATE TABLE seen (ticket TEXT PRIMARY KEY, data TEXT NOT NULL) STRICT, WITHOUT ROWID;
"];

pub(super) fn open(path: &Path, migrations: &[&str]) -> Result<Connection, StoreError> {
    let io_failed = |error: io::Error| {
        let message = format!("the store cannot be opened: {error}");
        StoreError::Failed { path: path.display().to_string(), message }
    };
    create(path).map_err(io_failed)?;
    if fs::metadata(path).map_err(io_failed)?.len() > 0 {
        look(path, migrations)?;
    }
    make_private(path).map_err(io_failed)?;
    let failed = |why: Why| why.at(path);
    let mut connection = connect(path, OpenFlags::SQLITE_OPEN_READ_WRITE).map_err(failed)?;
    use_wal(&connection).map_err(failed)?;
    migrate(&mut connection, migrations).map_err(failed)?;
    // Somebody newer may have been here since the first look.
    version_in(&connection, path, migrations)?;
    Ok(connection)
}

fn create(path: &Path) -> io::Result<()> {
    if let Some(folder) = path.parent() {
        files::own_folder(folder)?;
    }
    // SQLite itself would write through a link, in the files beside it too.
    for beside in ["-wal", "-shm", "-journal"] {
        let mut name = path.as_os_str().to_owned();
        name.push(beside);
        if Path::new(&name).is_symlink() {
            return Err(io::Error::new(io::ErrorKind::InvalidInput, format!("{} is a symlink", name.display())));
        }
    }
    files::open_own(path, Text::Extended).map(drop)
}

/// SQLite gives the files beside it (`-wal`, `-shm`) the same mode.
fn make_private(path: &Path) -> io::Result<()> {
    let mode = fs::metadata(path)?.permissions().mode();
    if mode & 0o077 != 0 {
        fs::set_permissions(path, fs::Permissions::from_mode(0o600))?;
    }
    Ok(())
}

/// Reading only: what is refused stays as it is, to the byte.
fn look(path: &Path, migrations: &[&str]) -> Result<(), StoreError> {
    let failed = |why: Why| why.at(path);
    let connection = connect(path, OpenFlags::SQLITE_OPEN_READ_ONLY).map_err(failed)?;
    let version = version_in(&connection, path, migrations)?;
    let foreign = || -> Result<bool, Why> {
        let tables: i64 = connection.query_row("SELECT count(*) FROM sqlite_schema", [], |row| row.get(0))?;
        let application: i32 = connection.pragma_query_value(None, "application_id", |row| row.get(0))?;
        Ok(application != APPLICATION_ID && (tables > 0 || version > 0))
    };
    if foreign().map_err(failed)? {
        let message = format!("this is another program's SQLite file, no store of yoi's; {MOVE_AWAY}");
        return Err(StoreError::Damaged { path: path.display().to_string(), message });
    }
    Ok(())
}

fn connect(path: &Path, how: OpenFlags) -> Result<Connection, Why> {
    let connection = Connection::open_with_flags(path, how | OpenFlags::SQLITE_OPEN_NO_MUTEX)?;
    connection.busy_timeout(BUSY_FOR)?;
    // Enough against a crash of yoi; against one of the machine it may lose the last records, never the file.
    connection.pragma_update(None, "synchronous", "NORMAL")?;
    // In KiB. What is written together is small, and a daemon keeps this for good; SQLite's own choice is 2 MiB.
    connection.pragma_update(None, "cache_size", -256)?;
    Ok(connection)
}

fn version_in(connection: &Connection, path: &Path, migrations: &[&str]) -> Result<i64, StoreError> {
    let found = version(connection).map_err(|why| why.at(path))?;
    let known = i64::try_from(migrations.len()).unwrap_or(i64::MAX);
    if found > known {
        return Err(StoreError::Newer { path: path.display().to_string(), found, known });
    }
    Ok(found)
}

fn version(connection: &Connection) -> Result<i64, Why> {
    Ok(connection.pragma_query_value(None, "user_version", |row| row.get(0))?)
}

/// Two processes that open a new store at once get in each other's way here, and SQLite does not wait by itself.
fn use_wal(connection: &Connection) -> Result<(), Why> {
    let began = Instant::now();
    loop {
        let mode = connection.pragma_update_and_check(None, "journal_mode", "WAL", |row| row.get::<_, String>(0));
        match mode {
            Ok(mode) if mode == "wal" => break,
            Ok(mode) => {
                return Err(Why::Said(format!(
                    "this file system has no shared memory for SQLite (it offers `{mode}`)"
                )));
            }
            Err(error) if is_busy(&error) && began.elapsed() < BUSY_FOR => thread::sleep(Duration::from_millis(5)),
            Err(error) => return Err(error.into()),
        }
    }
    // The log of changes shrinks back after a burst.
    connection.pragma_update(None, "journal_size_limit", 4 << 20)?;
    Ok(())
}

fn is_busy(error: &rusqlite::Error) -> bool {
    matches!(error.sqlite_error_code(), Some(ErrorCode::DatabaseBusy | ErrorCode::DatabaseLocked))
}

/// Each step in one transaction with its version, looked at again inside it: of two processes one does it.
fn migrate(connection: &mut Connection, migrations: &[&str]) -> Result<(), Why> {
    for (from, migration) in migrations.iter().enumerate() {
        let from = i64::try_from(from).unwrap_or(i64::MAX);
        if version(connection)? != from {
            continue;
        }
        let transaction = connection.transaction_with_behavior(TransactionBehavior::Immediate)?;
        if version(&transaction)? == from {
            transaction.execute_batch(migration)?;
            transaction.pragma_update(None, "application_id", APPLICATION_ID)?;
            transaction.pragma_update(None, "user_version", from + 1)?;
            transaction.commit()?;
        }
    }
    Ok(())
}
