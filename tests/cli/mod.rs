//! The program from outside, one file per command or subject.

mod config;
mod doctor;
mod hostile;
mod init;
mod inspect;
mod lifecycle;
mod listing;
mod next;
mod set;
mod tickets;
mod trust;
mod words;
mod workspace;
