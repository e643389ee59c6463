//! Composition root: command line, configuration, logging; wires the adapters together.

mod cli;
mod cockpit;
mod config;
mod core_rules;
mod demo;
mod dirs;
mod gate;
mod law;
mod log;
mod logging;
mod replay;
mod run;
mod wire;

use crate::tools::sandbox;
use clap::Parser;
use cli::{Cli, Command};
use std::process::ExitCode;

/// Exit code for a command line that is not understood.
const USAGE: u8 = 2;

/// The whole program.
pub fn main() -> ExitCode {
    // Children of weal begin here, before anything else is read or opened.
    let mut words = std::env::args_os().skip(1);
    if words.next().is_some_and(|first| first == sandbox::CHILD) {
        return sandbox::child_main(words.next().as_deref());
    }
    let cli = match Cli::try_parse() {
        Ok(cli) => cli,
        Err(error) => {
            let _ = error.print();
            return if error.use_stderr() { ExitCode::from(USAGE) } else { ExitCode::SUCCESS };
        }
    };
    match act(cli) {
        Ok(code) => code,
        Err(error) => {
            eprintln!("weal: {error:#}");
            ExitCode::FAILURE
        }
    }
}

fn act(cli: Cli) -> anyhow::Result<ExitCode> {
    let directory = cli.directory.as_deref();
    match cli.command {
        Some(Command::Check(lines)) => gate::serve(gate::Gate::Check, lines.stdin_lines).map(|()| ExitCode::SUCCESS),
        Some(Command::Effects(lines)) => {
            gate::serve(gate::Gate::Effects, lines.stdin_lines).map(|()| ExitCode::SUCCESS)
        }
        Some(Command::Extract(lines)) => {
            gate::serve(gate::Gate::Extract, lines.stdin_lines).map(|()| ExitCode::SUCCESS)
        }
        Some(Command::Rules { what }) => {
            outside_of_children("rules")?;
            law::rules(what, &dirs::workspace(directory)?)
        }
        Some(Command::Grants { what }) => {
            outside_of_children("grants")?;
            law::grants(what, &dirs::workspace(directory)?)
        }
        Some(Command::Log { what }) => log::log(what, &dirs::workspace(directory)?),
        Some(Command::Scars { .. }) => {
            anyhow::bail!("scars are not there yet: rules are not learned from failures in this version")
        }
        Some(Command::Eval { .. }) => anyhow::bail!("eval is not there yet: this version has no evaluations to run"),
        Some(Command::Demo(args)) => with_runtime(demo::demo(args)),
        Some(Command::Run(args)) => with_runtime(run::run(args, &dirs::workspace(directory)?)),
        Some(Command::Replay(args)) => with_runtime(replay::replay(args, &dirs::workspace(directory)?)),
        None => {
            let workspace = dirs::workspace(directory)?;
            with_runtime(async move { cockpit::start(&workspace).await.map(|()| ExitCode::SUCCESS) })
        }
    }
}

/// What decides or changes law is the person's alone: it is refused to anything that weal itself started.
fn outside_of_children(command: &str) -> anyhow::Result<()> {
    if sandbox::inside_child() {
        anyhow::bail!(
            "`weal {command}` is refused inside a command that weal runs: the law is the person's to change"
        );
    }
    Ok(())
}

fn with_runtime(work: impl Future<Output = anyhow::Result<ExitCode>>) -> anyhow::Result<ExitCode> {
    crate::model::install_tls();
    let _logging = logging::begin();
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build()?;
    let done = runtime.block_on(work);
    runtime.shutdown_timeout(std::time::Duration::from_secs(1));
    done
}
