//! `assets/repairs.toml`: what it may say, and reading it. Knows no single tool.

use crate::domain::{PlanKind, RawCall};
use serde::Deserialize;
use serde_json::{Map, Value};
use std::{collections::BTreeMap, sync::LazyLock};

#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Offers {
    pub command: Vec<CommandOffer>,
    pub tool: Vec<ToolOffer>,
}

/// The table that ships with weal. A test reads it; were it broken, nothing would be offered.
pub(super) static OFFERS: LazyLock<Offers> =
    LazyLock::new(|| parse(include_str!("../../../assets/repairs.toml")).unwrap_or_default());

fn parse(text: &str) -> Result<Offers, toml::de::Error> {
    toml::from_str(text)
}

#[derive(Debug, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub(super) struct CommandOffer {
    names: Vec<String>,
    sub: Vec<String>,
    with: Vec<String>,
    without: Vec<String>,
    pub first: Option<Template>,
    add: Vec<String>,
    append: Vec<String>,
    swap: BTreeMap<String, String>,
    r#as: Option<String>,
}

#[derive(Debug, Deserialize)]
#[serde(transparent)]
pub(super) struct Template(String);

/// A plain command, cut at its subcommand.
pub(super) struct Parts<'w> {
    to: &'w [String],
    sub: Option<&'w String>,
    rest: &'w [String],
}

/// Options in front of a subcommand that take the next word as their value.
const VALUED: [&str; 12] = [
    "-C",
    "-c",
    "--git-dir",
    "--work-tree",
    "--namespace",
    "-n",
    "--context",
    "--kubeconfig",
    "--cluster",
    "--profile",
    "--region",
    "-chdir",
];
/// Words in front of the program that are no part of it.
const RUNNERS: [&str; 6] = ["npx", "bunx", "sudo", "command", "exec", "time"];

/// `x*` is any word that begins with x and goes on.
fn is(word: &str, wanted: &str) -> bool {
    match wanted.strip_suffix('*') {
        Some(start) => word.len() > start.len() && word.starts_with(start),
        None => word == wanted,
    }
}

impl CommandOffer {
    /// The command, when this offer speaks of it.
    pub fn parts<'w>(&self, words: &'w [String]) -> Option<Parts<'w>> {
        let program = words.iter().position(|w| !w.contains('=') && !RUNNERS.contains(&w.as_str()))?;
        let name = words.get(program)?;
        let name = name.rsplit('/').next().unwrap_or(name);
        if !self.names.iter().any(|n| n == name) {
            return None;
        }
        let parts = if self.sub.is_empty() {
            let (to, rest) = words.split_at_checked(program + 1)?;
            Parts { to, sub: None, rest }
        } else {
            let at = subcommand(words, program + 1)?;
            let (to, rest) = words.split_at_checked(at)?;
            let (sub, rest) = rest.split_first()?;
            Parts { to, sub: Some(sub), rest }
        };
        let has = |wanted: &[String]| parts.rest.iter().any(|word| wanted.iter().any(|w| is(word, w)));
        let right = parts.sub.is_none_or(|sub| self.sub.contains(sub));
        (right && (self.with.is_empty() || has(&self.with)) && !has(&self.without)).then_some(parts)
    }

    /// The words of the changed command, where this offer changes it.
    pub fn changed(&self, parts: &Parts<'_>) -> Option<Vec<String>> {
        if self.add.is_empty() && self.append.is_empty() && self.swap.is_empty() && self.r#as.is_none() {
            return None;
        }
        let mut words = parts.to.to_vec();
        match (&self.r#as, parts.sub) {
            (Some(other), _) => words.push(other.clone()),
            (None, Some(sub)) => words.push(sub.clone()),
            (None, None) => {}
        }
        words.extend(self.add.iter().cloned());
        words.extend(parts.rest.iter().filter_map(|word| self.swapped(word)));
        words.extend(self.append.iter().cloned());
        Some(words)
    }

    fn swapped(&self, word: &str) -> Option<String> {
        let Some((from, to)) = self.swap.iter().find(|(from, _)| is(word, from)) else {
            return Some(word.to_owned());
        };
        match from.strip_suffix('*') {
            Some(start) => Some(format!("{to}{}", word.strip_prefix(start)?)),
            None => (!to.is_empty()).then(|| to.clone()),
        }
    }
}

/// Where the subcommand stands, options in front of it and their values passed over.
fn subcommand(words: &[String], mut at: usize) -> Option<usize> {
    loop {
        let word = words.get(at)?;
        if !word.starts_with('-') {
            return Some(at);
        }
        at += if VALUED.contains(&word.as_str()) { 2 } else { 1 };
    }
}

impl Template {
    pub fn filled(&self, parts: &Parts<'_>, id: &str) -> String {
        let operands: Vec<&str> = parts.rest.iter().map(String::as_str).filter(|w| !w.starts_with('-')).collect();
        let filled = self.0.replace("{to}", &parts.to.join(" ")).replace("{id}", id);
        filled.replace("{operands}", &operands.join(" "))
    }
}

#[derive(Debug, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub(super) struct ToolOffer {
    names: Vec<String>,
    when: BTreeMap<String, Vec<String>>,
    first: Option<String>,
    instead: Option<String>,
    keep: Vec<String>,
    set: Map<String, Value>,
}

impl ToolOffer {
    pub fn speaks_of(&self, call: &RawCall) -> bool {
        let has = |(name, values): (&String, &Vec<String>)| {
            let value = call.args.get(name).map(|v| v.as_str().map_or_else(|| v.to_string(), str::to_owned));
            value.is_some_and(|v| values.contains(&v))
        };
        self.names.contains(&call.tool) && self.when.iter().all(has)
    }

    pub fn kind(&self) -> PlanKind {
        if self.first.is_some() { PlanKind::Precede } else { PlanKind::Substitute }
    }

    /// The offered call; without a tool of its own, the same one with other arguments.
    pub fn call(&self, call: &RawCall) -> RawCall {
        let tool = self.first.as_ref().or(self.instead.as_ref()).filter(|t| !t.is_empty()).unwrap_or(&call.tool);
        let kept = |name: &String| self.keep.is_empty() || self.keep.contains(name);
        let args = call.args.as_object().into_iter().flatten().filter(|(name, _)| kept(name));
        let mut args: Map<String, Value> = args.map(|(name, value)| (name.clone(), value.clone())).collect();
        args.extend(self.set.clone());
        RawCall::new(tool, Value::Object(args))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_shipped_table_is_read() {
        let offers =
            parse(include_str!("../../../assets/repairs.toml")).map_err(|e| e.to_string()).expect("readable");
        assert!(offers.command.len() > 20 && offers.tool.len() > 3);
        for offer in &offers.tool {
            assert!(offer.first.is_some() != offer.instead.is_some(), "{offer:?}");
        }
    }
}
