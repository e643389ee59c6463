//! `weal replay`: a recorded session on the screen with a time cursor, or judged again without one.

use super::{cli, cockpit, log::print, wire::House};
use crate::domain::{Record, Stream};
use crate::session::replay::rejudge;
use crate::store;
use crate::tui::Mode;
use anyhow::{Context, Result};
use std::{io::IsTerminal, path::Path, process::ExitCode};

pub async fn replay(args: cli::Replay, workspace: &Path) -> Result<ExitCode> {
    let house = House::open()?;
    let records = load(&house, workspace, &args.session)?;
    let judged = rejudge(&records);
    if args.check || !std::io::stdout().is_terminal() {
        for drift in &judged.drifts {
            print(&drift.to_string())?;
        }
        print(&format!(
            "{} events, {} verdicts judged again, {} differ",
            records.len(),
            judged.verdicts,
            judged.drifts.len()
        ))?;
        return Ok(if judged.drifts.is_empty() { ExitCode::SUCCESS } else { ExitCode::FAILURE });
    }
    let notice = match judged.drifts.first() {
        None => format!("{} verdicts judged again: all as recorded", judged.verdicts),
        Some(first) => format!("{} of {} verdicts differ; first: {first}", judged.drifts.len(), judged.verdicts),
    };
    cockpit::show(&house, workspace, Mode::Replay { records }, Some(notice)).await?;
    Ok(ExitCode::SUCCESS)
}

/// A session of this directory, or an exported file.
fn load(house: &House, workspace: &Path, named: &str) -> Result<Vec<Record>> {
    if Path::new(named).is_file() {
        let text = std::fs::read_to_string(named).with_context(|| format!("`{named}` cannot be read"))?;
        return Ok(store::import_lines(named, &text)?);
    }
    let reader = house.store(workspace)?.open_reader()?;
    let id = reader.session(named)?;
    let mut records = reader.read(&Stream::Library)?;
    records.extend(reader.read(&Stream::Session(id))?);
    records.sort_by_key(|r| r.seq);
    let last = records.iter().rev().find(|r| r.stream != Stream::Library).map(|r| r.seq).unwrap_or_default();
    records.retain(|r| r.seq <= last);
    Ok(records)
}
