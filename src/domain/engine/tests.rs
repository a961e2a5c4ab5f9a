//! The engine as a whole, driven through a strict fake host on a virtual clock.

mod acts;
mod bounds;
mod chance;
mod claims;
mod clock;
mod diligent;
mod files;
mod host;
mod kicks;
mod limits;
mod operation;
mod orders;
mod polite;
mod registering;
mod remote;
mod scripts;
mod seen;
mod sessions;
mod silence;
mod starts;
mod trees;
mod verify;
mod walk;
