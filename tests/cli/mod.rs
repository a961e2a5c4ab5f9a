//! The program from outside, one file per command or subject.

mod config;
mod hostile;
mod init;
mod lifecycle;
mod tickets;
mod trust;
mod workspace;
