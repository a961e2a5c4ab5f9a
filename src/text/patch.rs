//! Patch.
