//! The program from outside, one file per command or subject.

mod config;
mod init;
mod inspect;
mod set;
mod trust;
mod words;
mod workspace;
