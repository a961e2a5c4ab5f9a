//! The program from outside, one file per command or subject.

mod config;
mod hostile;
mod init;
mod inspect;
mod lifecycle;
mod set;
mod stuck;
mod tickets;
mod trust;
mod workspace;
