//! The program in a real pseudo-terminal: keys in, screen out, and pictures of the screen.

use portable_pty::{Child, CommandBuilder, MasterPty, PtySize, native_pty_system};
use std::{
    fmt::Write as _,
    io::{Read, Write},
    num::NonZeroU16,
    path::Path,
    sync::{Arc, Condvar, Mutex},
    time::{Duration, Instant},
};

const PATIENCE: Duration = Duration::from_secs(60);

struct Screen {
    parser: Mutex<vt100::Parser>,
    changed: Condvar,
}

pub struct Terminal {
    screen: Arc<Screen>,
    keys: Box<dyn Write + Send>,
    pub child: Box<dyn Child + Send + Sync>,
    master: Box<dyn MasterPty + Send>,
}

fn size(cols: u16, rows: u16) -> PtySize {
    PtySize { rows, cols, pixel_width: 0, pixel_height: 0 }
}

fn nonzero(n: u16) -> NonZeroU16 {
    NonZeroU16::new(n).expect("a size")
}

impl Terminal {
    /// weal with these arguments, in `dir`, with `home` as its only home.
    pub fn weal(args: &[&str], dir: &Path, home: &Path, cols: u16, rows: u16) -> Self {
        let mut command = CommandBuilder::new(env!("CARGO_BIN_EXE_weal"));
        command.args(args);
        command.env_clear();
        for (name, value) in super::home::environment(home) {
            command.env(name, value);
        }
        command.env("TERM", "xterm-256color");
        command.env("COLORTERM", "truecolor");
        command.cwd(dir);
        Terminal::start(command, cols, rows)
    }

    fn start(command: CommandBuilder, cols: u16, rows: u16) -> Self {
        let pty = native_pty_system().openpty(size(cols, rows)).expect("a terminal");
        let child = pty.slave.spawn_command(command).expect("weal starts");
        // else the reader never sees the end
        drop(pty.slave);
        let parser = Mutex::new(vt100::Parser::new(nonzero(rows), nonzero(cols), 1000));
        let screen = Arc::new(Screen { parser, changed: Condvar::new() });
        let mut reader = pty.master.try_clone_reader().expect("a reader");
        let keys = pty.master.take_writer().expect("a writer");
        let drawn = screen.clone();
        std::thread::spawn(move || {
            let mut bytes = [0; 8192];
            while let Ok(n @ 1..) = reader.read(&mut bytes) {
                drawn.parser.lock().expect("the screen").process(&bytes[..n]);
                drawn.changed.notify_all();
            }
            drawn.changed.notify_all();
        });
        Terminal { screen, keys, child, master: pty.master }
    }

    pub fn text(&self) -> String {
        self.screen.parser.lock().expect("the screen").screen().contents()
    }

    /// Waits until the screen satisfies `holds`; `what` says it in words.
    pub fn until(&self, what: &str, holds: impl Fn(&vt100::Screen) -> bool) -> String {
        let end = Instant::now() + PATIENCE;
        let mut parser = self.screen.parser.lock().expect("the screen");
        while !holds(parser.screen()) {
            let left = end.saturating_duration_since(Instant::now());
            assert!(!left.is_zero(), "waited in vain for {what}; the screen is\n{}", parser.screen().contents());
            parser = self.screen.changed.wait_timeout(parser, left).expect("the screen").0;
        }
        parser.screen().contents()
    }

    pub fn shows(&self, text: &str) -> String {
        self.until(&format!("`{text}`"), |screen| screen.contents().contains(text))
    }

    /// Whether this text comes up within a fraction of a second.
    pub fn shows_soon(&self, text: &str) -> bool {
        let end = Instant::now() + Duration::from_millis(300);
        let mut parser = self.screen.parser.lock().expect("the screen");
        while !parser.screen().contents().contains(text) {
            let left = end.saturating_duration_since(Instant::now());
            if left.is_zero() {
                return false;
            }
            parser = self.screen.changed.wait_timeout(parser, left).expect("the screen").0;
        }
        true
    }

    pub fn hides(&self, text: &str) -> String {
        self.until(&format!("`{text}` to go"), |screen| !screen.contents().contains(text))
    }

    pub fn press(&mut self, keys: &str) {
        self.keys.write_all(keys.as_bytes()).expect("keys go in");
        self.keys.flush().expect("keys go in");
    }

    pub fn resize(&self, cols: u16, rows: u16) {
        self.screen.parser.lock().expect("the screen").screen_mut().set_size(nonzero(rows), nonzero(cols));
        self.master.resize(size(cols, rows)).expect("a resize");
    }

    /// Waits for the program's end and gives its exit code.
    pub fn ends(&mut self) -> u32 {
        let end = Instant::now() + PATIENCE;
        loop {
            if let Some(status) = self.child.try_wait().expect("the child") {
                return status.exit_code();
            }
            assert!(Instant::now() < end, "weal did not end; the screen is\n{}", self.text());
            std::thread::yield_now();
        }
    }

    pub fn left_alternate_screen(&self) -> bool {
        !self.screen.parser.lock().expect("the screen").screen().alternate_screen()
    }

    /// The screen as a picture.
    pub fn svg(&self) -> String {
        svg(self.screen.parser.lock().expect("the screen").screen())
    }
}

impl Drop for Terminal {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

const BACK: &str = "#16181d";
const FORE: &str = "#d5d8de";
/// The sixteen named colours as most terminals show them.
const NAMED: [&str; 16] = [
    "#1c1f26", "#e06c75", "#98c379", "#e5c07b", "#61afef", "#c678dd", "#56b6c2", "#abb2bf", "#5c6370", "#ff7b86",
    "#b5e890", "#ffd68a", "#7cc5ff", "#dc9cf0", "#6fd3de", "#ffffff",
];
const CELL: (f32, f32) = (8.43, 17.0);

fn colour(c: vt100::Color, default: &str) -> String {
    match c {
        vt100::Color::Default => default.to_owned(),
        vt100::Color::Rgb(r, g, b) => format!("#{r:02x}{g:02x}{b:02x}"),
        vt100::Color::Idx(n @ 0..16) => NAMED[n as usize].to_owned(),
        vt100::Color::Idx(n @ 16..232) => {
            let part = |v: u8| if v == 0 { 0 } else { 55 + 40 * v };
            let n = n - 16;
            format!("#{:02x}{:02x}{:02x}", part(n / 36), part(n / 6 % 6), part(n % 6))
        }
        vt100::Color::Idx(n) => format!("#{0:02x}{0:02x}{0:02x}", 8 + 10 * (n - 232)),
    }
}

/// One run of cells with the same look.
struct Run {
    at: u16,
    cells: u16,
    text: String,
    look: (String, String, bool, bool, bool),
}

fn svg(screen: &vt100::Screen) -> String {
    let (rows, cols) = screen.size();
    let (rows, cols) = (rows.get(), cols.get());
    let (w, h) = (f32::from(cols) * CELL.0 + 16.0, f32::from(rows) * CELL.1 + 16.0);
    let mut out = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{w:.0}\" height=\"{h:.0}\" viewBox=\"0 0 {w:.0} {h:.0}\">\n\
         <rect width=\"100%\" height=\"100%\" rx=\"6\" fill=\"{BACK}\"/>\n\
         <g font-family=\"DejaVu Sans Mono,Menlo,Consolas,monospace\" font-size=\"14\" xml:space=\"preserve\">\n"
    );
    for row in 0..rows {
        for run in runs(screen, row, cols) {
            draw(&mut out, row, &run);
        }
    }
    out + "</g></svg>\n"
}

fn runs(screen: &vt100::Screen, row: u16, cols: u16) -> Vec<Run> {
    let mut runs: Vec<Run> = Vec::new();
    for col in 0..cols {
        let Some(cell) = screen.cell(row, col) else { continue };
        if cell.is_wide_continuation() {
            if let Some(run) = runs.last_mut() {
                run.cells += 1;
            }
            continue;
        }
        let (mut fg, mut bg) = (colour(cell.fgcolor(), FORE), colour(cell.bgcolor(), BACK));
        if cell.inverse() {
            std::mem::swap(&mut fg, &mut bg);
        }
        let look = (fg, bg, cell.bold(), cell.italic(), cell.dim());
        let text = if cell.contents().is_empty() { " " } else { cell.contents() };
        match runs.last_mut() {
            Some(run) if run.look == look => {
                run.text.push_str(text);
                run.cells += 1;
            }
            Some(_) | None => runs.push(Run { at: col, cells: 1, text: text.to_owned(), look }),
        }
    }
    runs
}

fn draw(out: &mut String, row: u16, run: &Run) {
    let (x, y) = (8.0 + f32::from(run.at) * CELL.0, 8.0 + f32::from(row) * CELL.1);
    let width = f32::from(run.cells) * CELL.0;
    let (fg, bg, bold, italic, dim) = &run.look;
    if bg != BACK {
        let _ = writeln!(
            out,
            "<rect x=\"{x:.1}\" y=\"{y:.1}\" width=\"{width:.1}\" height=\"{}\" fill=\"{bg}\"/>",
            CELL.1
        );
    }
    if run.text.trim().is_empty() {
        return;
    }
    let text = run.text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;");
    let weight = if *bold { " font-weight=\"bold\"" } else { "" };
    let slant = if *italic { " font-style=\"italic\"" } else { "" };
    let faint = if *dim { " opacity=\"0.6\"" } else { "" };
    let _ = writeln!(
        out,
        "<text x=\"{x:.1}\" y=\"{:.1}\" fill=\"{fg}\" textLength=\"{width:.1}\"{weight}{slant}{faint}>{text}</text>",
        y + 13.0
    );
}
