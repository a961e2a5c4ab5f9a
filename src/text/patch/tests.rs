//! What an edit writes.
