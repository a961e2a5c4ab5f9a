//! What the outline finds.
