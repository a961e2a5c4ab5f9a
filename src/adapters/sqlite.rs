//! stub
use crate::domain::engine::*;
use crate::domain::ledger::*;
use crate::domain::ticket::*;
use crate::ports::*;
pub struct SqliteStore;
impl SqliteStore {
    pub fn open(_: &std::path::Path) -> Result<Self, StoreError> {
        unimplemented!()
    }
}
impl Store for SqliteStore {
    fn append(&mut self, _: &[Record]) -> Result<i64, StoreError> {
        unimplemented!()
    }
    fn records(&self, _: &Query) -> Result<Vec<Stored>, StoreError> {
        unimplemented!()
    }
    fn ledger(&self) -> Result<SavedLedger, StoreError> {
        unimplemented!()
    }
    fn save_ledger(&mut self, _: &SavedLedger) -> Result<(), StoreError> {
        unimplemented!()
    }
    fn last_seen(&self) -> Result<Option<Recorded>, StoreError> {
        unimplemented!()
    }
    fn save_seen(&mut self, _: &[(TicketId, Option<LastSeen>)], _: Timestamp) -> Result<(), StoreError> {
        unimplemented!()
    }
}
