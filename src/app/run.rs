//! `weal run`: a session without a screen. Events go to standard output as JSON lines; a question ends the run with
//! exit code 3 and waits in the log.

use super::{
    cli,
    wire::{House, Session, Voice},
};
use crate::agent::{Ended, Feed, driver};
use crate::session::Input;
use anyhow::{Context, Result, bail};
use std::{
    io::{IsTerminal, Read, Write},
    path::Path,
    process::ExitCode,
};
use tokio::sync::mpsc;

/// Exit code of a run that waits for a person.
pub const WAITING: u8 = 3;

pub async fn run(args: cli::Run, workspace: &Path) -> Result<ExitCode> {
    let house = House::open()?;
    let task = task(args.task)?;
    if task.is_none() && args.resume.is_none() {
        eprintln!(
            "weal: say what is to be done (`weal run \"…\"`), or go on with a session (`weal run --resume ID`)"
        );
        return Ok(ExitCode::from(super::USAGE));
    }
    let voice = house.endpoint().await?;
    if matches!(voice, Voice::Nobody) {
        bail!(
            "no model is configured: set OPENAI_BASE_URL (and OPENAI_API_KEY where it wants one), or `[model]` in {}",
            house.dirs.config_file().display()
        );
    }
    let session = match &args.resume {
        Some(id) => {
            let id = house.store(workspace)?.open_reader()?.session(id)?;
            house.resume(workspace, &id, voice, task.is_none())?
        }
        None => house.begin(workspace, voice, false)?,
    };
    let inputs = task.map(|text| Input::UserTurn { text, pasted: Vec::new() });
    finish(play(session, inputs).await?)
}

fn task(given: Option<String>) -> Result<Option<String>> {
    match given.as_deref() {
        Some("-") => {
            if std::io::stdin().is_terminal() {
                eprintln!("weal: reading the task from the terminal; end with Ctrl-D");
            }
            let mut text = String::new();
            std::io::stdin().read_to_string(&mut text).context("standard input could not be read")?;
            Ok(Some(text))
        }
        Some(_) | None => Ok(given),
    }
}

/// Runs a session on `inputs` and prints its records.
pub async fn play(session: Session, inputs: impl IntoIterator<Item = Input>) -> Result<Ended> {
    let Session { mut driver, mut feed, .. } = session;
    let (send, mut receive) = mpsc::unbounded_channel();
    for input in inputs {
        let _ = send.send(input);
    }
    drop(send);
    let print = tokio::spawn(async move {
        let mut out = std::io::stdout();
        while let Some(told) = feed.recv().await {
            if let Feed::Record(record) = told {
                let _ = writeln!(out, "{}", driver::line(&record));
                let _ = out.flush();
            }
        }
    });
    let stop = interrupted();
    let ended = tokio::select! {
        ended = driver.run(&mut receive) => ended?,
        () = stop => {
            driver.stop("the run was interrupted").await?;
            Ended::Idle
        }
    };
    let failed = driver.state.model_error.clone();
    let why = match (&failed, ended) {
        (_, Ended::WaitsForPerson) => "a question waits for a person",
        (Some(error), Ended::Idle | Ended::Closed) => error,
        (None, Ended::Idle | Ended::Closed) => "done",
    };
    driver.take(Input::Close { why: why.to_owned() })?;
    drop(driver);
    print.await.context("standard output could not be written")?;
    match failed {
        Some(error) if ended != Ended::WaitsForPerson => bail!("{error}"),
        Some(_) | None => Ok(ended),
    }
}

pub fn finish(ended: Ended) -> Result<ExitCode> {
    Ok(match ended {
        Ended::Idle | Ended::Closed => ExitCode::SUCCESS,
        Ended::WaitsForPerson => {
            eprintln!("weal: a question waits for you; `weal` in this directory shows it");
            ExitCode::from(WAITING)
        }
    })
}

/// SIGINT or SIGTERM.
async fn interrupted() {
    use tokio::signal::unix::{SignalKind, signal};
    match signal(SignalKind::terminate()) {
        Ok(mut term) => {
            tokio::select! {
                _ = tokio::signal::ctrl_c() => {}
                _ = term.recv() => {}
            }
        }
        Err(_) => {
            let _ = tokio::signal::ctrl_c().await;
        }
    }
}
