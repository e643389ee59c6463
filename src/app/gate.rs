//! `check`, `effects`, `extract`: one JSON request in, one JSON answer out, or a line each for as long as the other
//! side keeps talking. They read no disk and no configuration of the person.

use super::core_rules;
use crate::domain::{Constraint, ConstraintState, Facts, RawCall, RuleId, Source, Statement, Turn, event::CoreRule};
use crate::intake::statements;
use crate::session::{
    LEXICON,
    check::{self, Question},
};
use crate::tools;
use anyhow::{Context, Result};
use serde::Deserialize;
use serde_json::{Value, json};
use std::io::{BufRead, Read, Write};

/// Which question is asked.
#[derive(Debug, Clone, Copy)]
pub enum Gate {
    Check,
    Effects,
    Extract,
}

pub fn serve(gate: Gate, lines: bool) -> Result<()> {
    let core = core_rules::shipped()?;
    let mut out = std::io::stdout().lock();
    if lines {
        for line in std::io::stdin().lock().lines() {
            let line = line.context("standard input could not be read")?;
            if !line.trim().is_empty() {
                let answer = answer(gate, &line, &core).unwrap_or_else(|e| refusal(&e));
                writeln!(out, "{answer}")?;
                out.flush()?;
            }
        }
        return Ok(());
    }
    let mut text = String::new();
    std::io::stdin().read_to_string(&mut text).context("standard input could not be read")?;
    let answer = answer(gate, &text, &core)?;
    writeln!(out, "{}", serde_json::to_string_pretty(&answer)?)?;
    Ok(())
}

/// A request nobody can read is denied, and the next one is answered all the same.
fn refusal(error: &anyhow::Error) -> Value {
    json!({ "error": format!("{error:#}"), "decision": "deny" })
}

fn answer(gate: Gate, text: &str, core: &[CoreRule]) -> Result<Value> {
    Ok(match gate {
        Gate::Check => {
            let question: Question =
                read(text, r#"{"history": ["…"], "request": "…", "tool": "shell_exec", "args": {"command": "…"}}"#)?;
            serde_json::to_value(check::check(&question, core, &tools::specs()))?
        }
        Gate::Effects => {
            let request: EffectsRequest = read(text, r#"{"tool": "shell_exec", "args": {"command": "…"}}"#)?;
            let call = RawCall::new(&request.tool, request.args);
            json!({ "effects": check::effects(&call, &request.facts, core) })
        }
        Gate::Extract => {
            let request: ExtractRequest = read(text, r#"{"turns": ["…"]}"#)?;
            json!({ "statements": extract(&request.turns) })
        }
    })
}

fn read<T: for<'de> Deserialize<'de>>(text: &str, shape: &str) -> Result<T> {
    serde_json::from_str(text).with_context(|| format!("that is no request of the form {shape}"))
}

#[derive(Debug, Deserialize)]
struct EffectsRequest {
    tool: String,
    #[serde(default)]
    args: Value,
    #[serde(default)]
    facts: Facts,
}

#[derive(Debug, Deserialize)]
struct ExtractRequest {
    turns: Vec<String>,
}

/// The statements of all turns; each turn sees the constraints of those before it.
pub fn extract(turns: &[String]) -> Vec<Statement> {
    let mut known: Vec<Constraint> = Vec::new();
    let mut all = Vec::new();
    for (n, text) in (1..).zip(turns) {
        for statement in statements::extract(Turn(n), text, &[], &known, &LEXICON) {
            let id = RuleId::said(known.len() as u32 + 1);
            known.push(Constraint::of(id, statement.clone(), Source::Said, ConstraintState::Active));
            all.push(statement);
        }
    }
    all
}
