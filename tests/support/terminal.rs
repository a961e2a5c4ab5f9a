//! A program on a terminal of its own: what it shows is read, and keys are typed.
//!
//! Must not know: which program.

use std::fs::File;
use std::io::{Read, Write};
use std::process::{Child, Command};
use std::sync::mpsc::{Receiver, channel};
use std::thread;

use rustix::pty::{OpenptFlags, grantpt, openpt, ptsname, unlockpt};
use rustix::termios::{Winsize, tcsetwinsize};

use super::stage::BOUND;
use super::wait::until;

/// The terminal, with the program on it.
pub struct Terminal {
    program: Child,
    keyboard: File,
    output: Receiver<String>,
    seen: String,
}

impl Terminal {
    /// Starts it.
    pub fn new(mut program: Command) -> Self {
        let terminal = openpt(OpenptFlags::RDWR | OpenptFlags::NOCTTY).unwrap();
        grantpt(&terminal).unwrap();
        unlockpt(&terminal).unwrap();
        tcsetwinsize(&terminal, Winsize { ws_row: 24, ws_col: 80, ws_xpixel: 0, ws_ypixel: 0 }).unwrap();
        let name = ptsname(&terminal, []).unwrap();
        let side = || File::options().read(true).write(true).open(name.to_str().unwrap()).unwrap();
        let program = program.env("TERM", "xterm").stdin(side()).stdout(side()).stderr(side()).spawn().unwrap();
        let (mut screen, keyboard) = (File::from(terminal.try_clone().unwrap()), File::from(terminal));
        let (shown, output) = channel();
        // Somebody has to read what it paints, or it waits for that.
        thread::spawn(move || {
            let mut bytes = [0; 4096];
            while let Ok(count @ 1..) = screen.read(&mut bytes) {
                let _ = shown.send(String::from_utf8_lossy(&bytes[..count]).into_owned());
            }
        });
        Self { program, keyboard, output, seen: String::new() }
    }

    /// Waits until it has shown this, since this was last asked.
    pub fn shows(&mut self, what: &str) {
        let (seen, output) = (&mut self.seen, &self.output);
        let mut has = || {
            seen.extend(output.try_iter());
            seen.contains(what).then_some(())
        };
        until(what, BOUND, &mut has, String::new);
        self.seen.clear();
    }

    /// Types.
    pub fn types(&mut self, keys: &str) {
        self.keyboard.write_all(keys.as_bytes()).unwrap();
    }

    /// Waits for its end.
    pub fn ends(&mut self) {
        let program = &mut self.program;
        until("the program's end", BOUND, || program.try_wait().unwrap(), String::new);
    }
}

/// However a test ends: no program stays behind.
impl Drop for Terminal {
    fn drop(&mut self) {
        let _ = self.program.kill();
        let _ = self.program.wait();
    }
}
