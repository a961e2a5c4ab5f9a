//! One integration binary: the program from outside, and the shape of its source.

// The attribute tells clippy that helpers are tests too, and may panic.
#[cfg(test)]
mod cli;
#[cfg(test)]
mod e2e;
#[cfg(test)]
mod support;
#[cfg(test)]
mod tidy;
