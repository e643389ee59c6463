//! `weal log`: what happened, and whether the log still is what was written.

use super::{cli::LogCommand, wire::House};
use crate::domain::{Moment, Stream};
use anyhow::Result;
use std::{
    io::{ErrorKind, Write},
    path::Path,
    process::ExitCode,
};

pub fn log(command: LogCommand, workspace: &Path) -> Result<ExitCode> {
    let house = House::open()?;
    let reader = house.store(workspace)?.open_reader()?;
    match command {
        LogCommand::List { json } => {
            let sessions = reader.sessions()?;
            if json {
                for s in &sessions {
                    print(&serde_json::json!({
                        "id": s.id, "opened": s.opened, "model": s.model, "simulated": s.simulated, "turns": s.turns,
                        "request": s.request, "state": s.state.word(), "unfinished": s.unfinished,
                    })
                    .to_string())?;
                }
            } else if sessions.is_empty() {
                print("no session in this directory yet: `weal` begins one, `weal demo` shows one")?;
            }
            for s in sessions.iter().filter(|_| !json) {
                let request = s.request.as_deref().unwrap_or("—").lines().next().unwrap_or_default();
                let request: String = request.chars().take(60).collect();
                let (id, state) = (s.id.short(), s.state.word());
                print(&format!(
                    "{id}  {}  {:>4} turns  {state:<8} {:<18} {request}",
                    when(s.opened),
                    s.turns,
                    s.model
                ))?;
            }
        }
        LogCommand::Show { session } => {
            let id = reader.session(&session)?;
            for record in reader.read(&Stream::Session(id))? {
                print(&crate::agent::driver::line(&record))?;
            }
        }
        LogCommand::Verify { session } => {
            let stream = session.map(|s| reader.session(&s)).transpose()?.map(Stream::Session);
            let verification = reader.verify(stream.as_ref())?;
            for fault in &verification.faults {
                print(&format!("✕ {fault}"))?;
            }
            for note in &verification.notes {
                print(&format!("· {note}"))?;
            }
            let (events, head) = (verification.events, verification.head);
            let head =
                head.map_or_else(String::new, |(seq, digest)| format!(", the last is {seq} ({})", digest.short()));
            let word = if verification.is_sound() { "as written" } else { "NOT as written" };
            print(&format!("{events} events{head}: {word}"))?;
            return Ok(if verification.is_sound() { ExitCode::SUCCESS } else { ExitCode::FAILURE });
        }
        LogCommand::Export { session } => {
            let id = reader.session(&session)?;
            print(reader.export(&id)?.trim_end())?;
        }
    }
    Ok(ExitCode::SUCCESS)
}

/// A moment on the person's own calendar.
pub fn when(moment: Moment) -> String {
    let offset = jiff::tz::Offset::from_seconds(moment.offset * 60).unwrap_or(jiff::tz::Offset::UTC);
    let time = jiff::Timestamp::from_millisecond(moment.millis).unwrap_or_default();
    time.to_zoned_datetime(offset.to_time_zone()).strftime("%Y-%m-%d %H:%M").to_string()
}

/// A line on standard output; a reader that went away (`| head`) is no error.
pub fn print(line: &str) -> Result<()> {
    match writeln!(std::io::stdout(), "{line}") {
        Err(e) if e.kind() == ErrorKind::BrokenPipe => std::process::exit(0),
        done => Ok(done?),
    }
}
