//! The command line: a contract that other programs rely on.

use clap::{Args, Parser, Subcommand};
use std::path::PathBuf;

/// Supervise a long-horizon agent: what you said early is in force late.
#[derive(Debug, Parser)]
#[command(name = "weal", version, max_term_width = 100, arg_required_else_help = false)]
pub struct Cli {
    /// Work in this directory instead of the present one.
    #[arg(short = 'C', long, value_name = "DIR", global = true)]
    pub directory: Option<PathBuf>,

    #[command(subcommand)]
    pub command: Option<Command>,
}

#[derive(Debug, Subcommand)]
pub enum Command {
    /// Play a bundled session in a scratch workspace, with real tools.
    Demo(Demo),
    /// Run without a screen; events as JSON lines. Exit code 0 done, 1 error, 2 usage, 3 waiting for a person.
    Run(Run),
    /// Judge one call after a history: a JSON question on standard input, a JSON answer on standard output.
    Check(Lines),
    /// What a call would do: JSON {tool, args, facts?} on standard input.
    Effects(Lines),
    /// Constraints found in turns: JSON {turns} on standard input.
    Extract(Lines),
    /// Rules in force in this directory, and the person's say over them.
    Rules {
        #[command(subcommand)]
        what: RulesCommand,
    },
    /// Approvals that are still good.
    Grants {
        #[command(subcommand)]
        what: GrantsCommand,
    },
    /// The session log of this directory.
    Log {
        #[command(subcommand)]
        what: LogCommand,
    },
    /// Look at a recorded session again, with a time cursor; every verdict is derived anew.
    Replay(Replay),
    /// Learned rules.
    Scars {
        #[arg(trailing_var_arg = true, allow_hyphen_values = true, hide = true)]
        rest: Vec<String>,
    },
    /// Evaluations.
    Eval {
        #[arg(trailing_var_arg = true, allow_hyphen_values = true, hide = true)]
        rest: Vec<String>,
    },
}

#[derive(Debug, Args)]
pub struct Demo {
    /// Which one; the first of the list when not given.
    pub name: Option<String>,
    /// Name what there is.
    #[arg(long)]
    pub list: bool,
    /// Without a screen: events as JSON lines, scripted answers to questions.
    #[arg(long)]
    pub headless: bool,
    /// Play in this new or empty directory and leave it there.
    #[arg(long, value_name = "DIR")]
    pub scratch: Option<PathBuf>,
}

#[derive(Debug, Args)]
pub struct Run {
    /// What is to be done; read from standard input when it is `-`.
    pub task: Option<String>,
    /// Go on with a session of this directory.
    #[arg(long, value_name = "ID")]
    pub resume: Option<String>,
}

#[derive(Debug, Args)]
pub struct Lines {
    /// One request a line, one answer a line, until standard input ends.
    #[arg(long)]
    pub stdin_lines: bool,
}

#[derive(Debug, Args)]
pub struct Replay {
    /// A session's id (its end is enough), or a file made by `weal log export`.
    pub session: String,
    /// Derive every verdict again, report what differs, show nothing.
    #[arg(long)]
    pub check: bool,
}

#[derive(Debug, Subcommand)]
pub enum RulesCommand {
    /// All rules in force: core and lasting constraints.
    List {
        #[arg(long)]
        json: bool,
    },
    /// One rule with its origin, words and examples.
    Show { id: String },
    /// Run the examples of every human-authored rule.
    Test,
    /// Add a lasting rule to this workspace, in the rule language or in plain words.
    Add {
        /// `if … then …`, or a sentence.
        text: String,
    },
    /// Take a lasting rule out of force.
    Retire {
        id: String,
        /// Why; kept in the log.
        #[arg(long)]
        why: String,
    },
}

#[derive(Debug, Subcommand)]
pub enum GrantsCommand {
    List {
        /// The session; the latest when not given.
        #[arg(long)]
        session: Option<String>,
    },
    Revoke {
        id: String,
        #[arg(long)]
        session: Option<String>,
        #[arg(long, default_value = "revoked from the command line")]
        why: String,
    },
}

#[derive(Debug, Subcommand)]
pub enum LogCommand {
    /// Sessions of this directory.
    List {
        #[arg(long)]
        json: bool,
    },
    /// A session's events, one a line.
    Show { session: String },
    /// Is the log as it was written? Exit code 1 when not.
    Verify {
        /// Only this session.
        session: Option<String>,
    },
    /// A session as JSON lines, with the law it ran under.
    Export { session: String },
}
