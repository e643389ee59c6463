//! Playing a session file: turn by turn, at a pace, with the scripted person's answers where nobody else answers.

use super::{
    cli, cockpit,
    log::print,
    run,
    wire::{House, Session, Voice},
};
use crate::agent::{Ended, Feed, driver};
use crate::domain::{HumanDecision, ProposalId};
use crate::model::script::{Script, bundled};
use crate::session::{Input, Phase, State};
use anyhow::{Context, Result, bail};
use std::{path::Path, process::ExitCode, sync::Arc};
use tokio::sync::mpsc;

/// Who answers for the person in a session file.
pub const SCRIPTED: &str = "scripted";

pub async fn demo(args: cli::Demo) -> Result<ExitCode> {
    if args.list {
        for script in scripts()? {
            let kind = if script.rehearsal.is_some() { "rehearsal" } else { "demo" };
            print(&format!("{:<12} {kind:<10} {}", script.name, script.title))?;
        }
        return Ok(ExitCode::SUCCESS);
    }
    let script = Arc::new(load(args.name.as_deref())?);
    let house = House::open()?;
    let workspace = house.scratch(args.scratch.as_deref(), &script)?;
    if args.headless {
        return headless(&house, &workspace, script).await;
    }
    cockpit::demo(&house, &workspace, script).await?;
    println!("The demo's workspace is {}", workspace.display());
    println!("Its log: weal -C {} log list", workspace.display());
    Ok(ExitCode::SUCCESS)
}

/// The bundled session files.
pub fn scripts() -> Result<Vec<Script>> {
    bundled().iter().map(|(name, text)| Ok(Script::parse(text, name)?)).collect()
}

/// A bundled session by name, or a file.
pub fn load(name: Option<&str>) -> Result<Script> {
    let (first, text) = bundled().first().context("no session is bundled")?;
    let Some(name) = name else { return Ok(Script::parse(text, first)?) };
    if let Some((name, text)) = bundled().iter().find(|(n, _)| *n == name) {
        return Ok(Script::parse(text, name)?);
    }
    if Path::new(name).is_file() {
        let text = std::fs::read_to_string(name).with_context(|| format!("`{name}` cannot be read"))?;
        return Ok(Script::parse(&text, name)?);
    }
    let names: Vec<&str> = bundled().iter().map(|(n, _)| *n).collect();
    bail!("there is no demo `{name}` (there are {}; a session file may be named by its path)", names.join(", "))
}

/// Who plays a session file: a rehearsal has an agent of its own, which reads from the script only what it was not
/// asked to rehearse.
pub fn voice(script: &Arc<Script>) -> Voice {
    match script.rehearsal {
        Some(_) => Voice::Rehearsal(script.clone()),
        None => Voice::Script(script.clone()),
    }
}

/// The scripted person's answer to the question that is open, if the script has one.
pub fn scripted_answer(script: &Script, state: &State) -> Option<(ProposalId, HumanDecision)> {
    let waiting = state.waiting().find(|h| !h.is_put_off())?;
    let turn = (state.turn.0 as usize).checked_sub(1)?;
    let reply = (state.model_calls_this_turn as usize).checked_sub(1)?;
    Some((waiting.id(), script.answer(turn, reply)?.clone()))
}

/// The next thing the scripted person says.
pub fn next_turn(script: &Script, state: &State) -> Option<String> {
    script.user_turns().nth(state.turn.0 as usize).map(str::to_owned)
}

async fn headless(house: &House, workspace: &Path, script: Arc<Script>) -> Result<ExitCode> {
    let Session { mut driver, mut feed, .. } = house.begin(workspace, voice(&script), true)?;
    loop {
        let (send, mut receive) = mpsc::unbounded_channel();
        match driver.state.phase() {
            Phase::Waiting => match scripted_answer(&script, &driver.state) {
                Some((proposal, decision)) => {
                    let _ = send.send(Input::Answer { proposal, decision, approver: SCRIPTED.to_owned() });
                }
                None => return run::finish(Ended::WaitsForPerson),
            },
            Phase::Idle | Phase::Thinking | Phase::Working => match next_turn(&script, &driver.state) {
                Some(text) => {
                    let _ = send.send(Input::UserTurn { text, pasted: Vec::new() });
                }
                None => break,
            },
            Phase::Closed => break,
        }
        drop(send);
        driver.run(&mut receive).await?;
        drain(&mut feed)?;
        if let Some(error) = &driver.state.model_error {
            bail!("the script does not fit what happened: {error}");
        }
    }
    driver.take(Input::Close { why: "the script has ended".to_owned() })?;
    drain(&mut feed)?;
    eprintln!("weal: the demo's workspace is {}", workspace.display());
    Ok(ExitCode::SUCCESS)
}

fn drain(feed: &mut mpsc::UnboundedReceiver<Feed>) -> Result<()> {
    while let Ok(told) = feed.try_recv() {
        if let Feed::Record(record) = told {
            print(&driver::line(&record))?;
        }
    }
    Ok(())
}
