//! From the start of the process to its first frame, in a pseudo-terminal, for an empty directory and for the demo.
//! `cargo bench --bench startup`

#![expect(
    clippy::expect_used,
    clippy::indexing_slicing,
    clippy::disallowed_methods,
    reason = "a bench that cannot go on stops where it stands"
)]

use portable_pty::{CommandBuilder, PtySize, native_pty_system};
use std::{
    io::Read,
    num::NonZeroU16,
    path::Path,
    time::{Duration, Instant},
};

const RUNS: usize = 15;
const SIZE: (u16, u16) = (120, 40);

fn main() {
    let home = tempfile::tempdir().expect("a home");
    let work = home.path().join("work");
    std::fs::create_dir(&work).expect("a directory");
    measure("start screen", &[], home.path(), &work, "no session yet");
    measure("demo", &["demo"], home.path(), &work, "In force");
}

fn measure(what: &str, args: &[&str], home: &Path, work: &Path, text: &str) {
    let mut times: Vec<Duration> = (0..RUNS).map(|_| first_frame(args, home, work, text)).collect();
    times.sort();
    let [least, median, most] = [0, RUNS / 2, RUNS - 1].map(|i| times[i].as_secs_f64() * 1e3);
    println!("process start to first frame, {what}: median {median:.0} ms [{least:.0} … {most:.0}], {RUNS} runs");
}

fn first_frame(args: &[&str], home: &Path, work: &Path, text: &str) -> Duration {
    let (cols, rows) = SIZE;
    let size = PtySize { rows, cols, pixel_width: 0, pixel_height: 0 };
    let pty = native_pty_system().openpty(size).expect("a terminal");
    let mut command = CommandBuilder::new(env!("CARGO_BIN_EXE_weal"));
    command.args(args);
    command.env_clear();
    command.env("HOME", home);
    command.env("TMPDIR", home);
    command.env("PATH", std::env::var_os("PATH").unwrap_or_default());
    command.env("TERM", "xterm-256color");
    command.cwd(work);
    let nonzero = |n| NonZeroU16::new(n).expect("a size");
    let mut parser = vt100::Parser::new(nonzero(rows), nonzero(cols), 0);
    let mut reader = pty.master.try_clone_reader().expect("a reader");
    let began = Instant::now();
    let mut child = pty.slave.spawn_command(command).expect("weal starts");
    drop(pty.slave);
    let mut bytes = [0; 65536];
    while !parser.screen().contents().contains(text) {
        let n = reader.read(&mut bytes).expect("the screen");
        assert!(n > 0, "weal ended: {}", parser.screen().contents());
        parser.process(&bytes[..n]);
    }
    let took = began.elapsed();
    let _ = child.kill();
    let _ = child.wait();
    took
}
