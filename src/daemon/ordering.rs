//! What the Orchestrator notes of a ticket, told to the engine.
//!
//! Must not know: which notes there are.

use std::collections::VecDeque;

use super::Host;
use crate::domain::engine::Orders;
use crate::domain::refusal::Refusal;
use crate::domain::ticket::{TicketId, Timestamp};

impl Host {
    /// Takes a note of the Orchestrator's, and carries out what follows.
    pub fn order(&mut self, session: &str, id: &TicketId, orders: Orders, now: Timestamp) -> Result<(), Refusal> {
        let effects = self.engine.order(session, id, orders, now)?;
        let mut events = VecDeque::new();
        self.perform_all(effects, &mut events);
        while let Some(event) = events.pop_front() {
            self.tell(event);
        }
        Ok(())
    }
}
