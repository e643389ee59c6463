//! The core schema as it is in force: what comes with weal, then the person's own file. Every rule's examples are
//! run through intake and audit before it is trusted.

use super::dirs::Dirs;
use crate::domain::{RawCall, RuleId, event::CoreRule};
use crate::library;
use crate::policy::schema::{self, SchemaError, SchemaRule};
use crate::session::check::Trial;
use anyhow::{Context, Result, bail};
use std::io::ErrorKind;

/// The rules that come with weal.
pub fn shipped() -> Result<Vec<CoreRule>> {
    Ok(in_force(&readable(schema::read(schema::CORE, schema::CORE_FILE))?, schema::CORE_FILE))
}

/// All human-authored rules, checked.
pub fn load(dirs: &Dirs) -> Result<Vec<CoreRule>> {
    let (read, core) = with_examples(dirs)?;
    verify(&read, &core)?;
    Ok(core)
}

/// All human-authored rules as read, and as they are in force.
pub fn with_examples(dirs: &Dirs) -> Result<(Vec<SchemaRule>, Vec<CoreRule>)> {
    let mut read = readable(schema::read(schema::CORE, schema::CORE_FILE))?;
    let mut core = in_force(&read, schema::CORE_FILE);
    let path = dirs.rules_file();
    let name = path.display().to_string();
    match std::fs::read_to_string(&path) {
        Ok(text) => {
            let own = readable(schema::read_own(&text, &name, &read))?;
            core.extend(in_force(&own, &name));
            read.extend(own);
        }
        Err(e) if e.kind() == ErrorKind::NotFound => {}
        Err(e) => return Err(e).with_context(|| format!("`{name}` cannot be read")),
    }
    Ok((read, core))
}

fn readable(read: Result<Vec<SchemaRule>, Vec<SchemaError>>) -> Result<Vec<SchemaRule>> {
    read.map_err(|errors| {
        let lines: Vec<String> = errors.iter().map(ToString::to_string).collect();
        anyhow::anyhow!("{}", lines.join("\n"))
    })
}

fn in_force(rules: &[SchemaRule], file: &str) -> Vec<CoreRule> {
    let one = |r: &SchemaRule| CoreRule {
        id: r.id,
        title: r.title.clone(),
        rule: r.text.clone(),
        hard: r.hard,
        why: r.why.clone(),
        file: file.to_owned(),
    };
    rules.iter().map(one).collect()
}

/// A failed example of a rule.
#[derive(Debug, Clone)]
pub struct Failure {
    pub rule: RuleId,
    pub call: RawCall,
    pub should_match: bool,
}

impl std::fmt::Display for Failure {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let must = if self.should_match { "must match but does not" } else { "must not match but does" };
        let call =
            self.call.text("command").map_or_else(|| format!("{} {}", self.call.tool, self.call.args), str::to_owned);
        write!(f, "{}: its example `{call}` {must}", self.rule)
    }
}

/// Runs every example of `rules` under `core`.
pub fn failures(rules: &[SchemaRule], core: &[CoreRule]) -> Vec<Failure> {
    let trial = Trial::under(core);
    let mut failures = Vec::new();
    for rule in rules {
        let examples = rule.matches.iter().map(|c| (c, true)).chain(rule.not_matches.iter().map(|c| (c, false)));
        for (call, should_match) in examples {
            // what speaks only under the latch is tried under it
            let latched = should_match && rule.text.contains("latched");
            if trial.findings(call, latched).contains(&rule.id) != should_match {
                failures.push(Failure { rule: rule.id, call: call.clone(), should_match });
            }
        }
    }
    failures
}

fn verify(rules: &[SchemaRule], core: &[CoreRule]) -> Result<()> {
    let places = crate::domain::Places { workspace: "/workspace".to_owned(), home: "/home/user".to_owned() };
    if let Some(bad) = library::law(core, [], &places).1.first() {
        bail!(
            "{} cannot be enforced: {} (a core rule may only use declared variables: {})",
            bad.id,
            bad.why,
            library::VARIABLES.join(", ")
        );
    }
    let failures = failures(rules, core);
    if !failures.is_empty() {
        let lines: Vec<String> = failures.iter().map(ToString::to_string).collect();
        bail!("the rules do not do what their examples say:\n{}", lines.join("\n"));
    }
    Ok(())
}
