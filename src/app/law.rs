//! `weal rules` and `weal grants`: the law as it stands, and the person's say over it.

use super::{
    cli::{GrantsCommand, RulesCommand},
    core_rules,
    dirs::Dirs,
    log::print,
    wire::{House, SystemClock},
};
use crate::domain::{
    Constraint, ConstraintState, Event, Grant, GrantId, Op, Origin, RuleId, Scope, Source, Span, StatementKind,
    Stream, Turn, event::Entry,
};
use crate::intake::statements;
use crate::policy::lang::{self, ast::Consequence};
use crate::ports::{Clock, Log};
use crate::session::{LEXICON, State};
use crate::store::Reader;
use anyhow::{Context, Result, bail};
use std::{path::Path, process::ExitCode};

pub fn rules(command: RulesCommand, workspace: &Path) -> Result<ExitCode> {
    if let RulesCommand::Test = command {
        return test();
    }
    let house = House::open()?;
    match command {
        RulesCommand::Test => {}
        RulesCommand::List { json } => list(&house, workspace, json)?,
        RulesCommand::Show { id } => show(&house, workspace, id.parse()?)?,
        RulesCommand::Add { text } => add(&house, workspace, &text)?,
        RulesCommand::Retire { id, why } => retire(&house, workspace, id.parse()?, why)?,
    }
    Ok(ExitCode::SUCCESS)
}

/// Lasting constraints, and those of the latest session.
fn constraints(house: &House, workspace: &Path) -> Result<Vec<Constraint>> {
    let reader = house.store(workspace)?.open_reader()?;
    let mut records = reader.read(&Stream::Library)?;
    if let Some(latest) = reader.sessions()?.first() {
        records.extend(reader.read(&Stream::Session(latest.id.clone()))?);
        records.sort_by_key(|r| r.seq);
    }
    Ok(State::replay(&records).constraints.into_values().collect())
}

fn list(house: &House, workspace: &Path, json: bool) -> Result<()> {
    let said = constraints(house, workspace)?;
    if json {
        for rule in &house.core {
            print(
                &serde_json::json!({"id": rule.id, "origin": "core", "text": rule.rule, "hard": rule.hard,
                "why": rule.why, "state": "active"})
                .to_string(),
            )?;
        }
        for c in &said {
            print(
                &serde_json::json!({"id": c.id, "origin": "said", "text": c.rule, "hard": false, "quote": c.quote,
                "turn": c.turn, "scope": c.scope, "state": c.state.word()})
                .to_string(),
            )?;
        }
        return Ok(());
    }
    for rule in &house.core {
        let hard = if rule.hard { "hard" } else { "    " };
        print(&format!("{:<5} {hard}  {}", rule.id.to_string(), rule.title))?;
    }
    for c in &said {
        let enforced = if c.is_enforceable() { "" } else { "  (not enforceable)" };
        print(&format!(
            "{:<5} {:<10} {} \"{}\" turn {}{enforced}",
            c.id.to_string(),
            c.state.word(),
            c.kind.word(),
            c.quote,
            c.turn
        ))?;
    }
    if said.is_empty() {
        print("nothing said in this directory yet: what you tell the agent in a session appears here")?;
    }
    Ok(())
}

fn show(house: &House, workspace: &Path, id: RuleId) -> Result<()> {
    if let Some(rule) = house.core.iter().find(|r| r.id == id) {
        print(&format!(
            "{id}  {}\n\n  {}\n\nwhy    {}\nfile   {}\nhard   {}",
            rule.title,
            rule.rule,
            rule.why,
            rule.file,
            if rule.hard {
                "yes: nothing said in a session lifts it"
            } else {
                "no: you can relax it in your own words"
            }
        ))?;
        let (rules, _) = core_rules::with_examples(&house.dirs)?;
        for example in rules.iter().filter(|r| r.id == id).flat_map(|r| &r.matches) {
            print(&format!(
                "meets  {}",
                example.text("command").map_or_else(|| example.args.to_string(), str::to_owned)
            ))?;
        }
        return Ok(());
    }
    let said = constraints(house, workspace)?;
    let Some(c) = said.into_iter().find(|c| c.id == id) else {
        bail!("there is no rule {id} here; `weal rules list` names them")
    };
    let rule = c.rule.clone().unwrap_or_else(|| format!("not enforceable: {}", c.note.clone().unwrap_or_default()));
    let (kind, state, scope) = (c.kind.word(), c.state.word(), c.scope.word());
    let place = format!("turn {}, characters {}–{}", c.turn, c.span.start, c.span.end);
    print(&format!("{id}  {kind} ({state})\n\n  {rule}\n\nsaid   \"{}\"\nplace  {place}\nscope  {scope}", c.quote))
}

/// Runs the examples of all human-authored rules, trusted or not.
fn test() -> Result<ExitCode> {
    let (rules, core) = core_rules::with_examples(&Dirs::from_env()?)?;
    let examples: usize = rules.iter().map(|r| r.matches.len() + r.not_matches.len()).sum();
    let failures = core_rules::failures(&rules, &core);
    for failure in &failures {
        print(&failure.to_string())?;
    }
    print(&format!("{} rules, {examples} examples, {} failed", rules.len(), failures.len()))?;
    Ok(if failures.is_empty() { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

/// A lasting rule, from the rule language or from plain words.
fn add(house: &House, workspace: &Path, text: &str) -> Result<()> {
    let store = house.store(workspace)?;
    let mut writer = store.open_library()?;
    let first = writer.reader().next_constraint()?;
    let found = if text.trim_start().starts_with("if ") || text.trim_start().starts_with("always") {
        vec![from_language(first, text)?]
    } else {
        let known: Vec<Constraint> =
            State::replay(&writer.read(&Stream::Library)?).constraints.into_values().collect();
        let found = statements::extract(Turn(0), text, &[], &known, &LEXICON);
        let adds = found.into_iter().filter(|s| matches!(s.op, Op::Add | Op::Tighten | Op::Relax) && s.enforceable);
        let lasting = |(n, s)| Constraint {
            scope: Scope::Project,
            ..Constraint::of(RuleId::said(n), s, Source::Said, ConstraintState::Active)
        };
        (first..).zip(adds).map(lasting).collect()
    };
    if found.is_empty() {
        bail!(
            "no rule that can be enforced was found in `{text}`; write it as `if … then …` (see `weal rules show c1` for the shape)"
        );
    }
    let entries: Vec<Entry> = found
        .iter()
        .map(|c| Entry { stream: Stream::Library, event: Event::ConstraintAdded { constraint: c.clone() } })
        .collect();
    writer.append(SystemClock.now(), &entries)?;
    for c in &found {
        print(&format!("{}  {}", c.id, c.rule.as_deref().unwrap_or_default()))?;
    }
    Ok(())
}

fn from_language(number: u32, text: &str) -> Result<Constraint> {
    let rule = lang::parse(text).map_err(|wrong| {
        let lines: Vec<String> = wrong.iter().map(|d| d.render(text)).collect();
        anyhow::anyhow!("{}", lines.join("\n"))
    })?;
    let kind = match rule.then {
        Consequence::RequireApproval => StatementKind::Approval,
        Consequence::RequireBefore { .. } => StatementKind::Prerequisite,
        Consequence::Limit { .. } => StatementKind::Limit,
        Consequence::Except(_) => StatementKind::Exception,
        Consequence::ForbidToolCall(_)
        | Consequence::ForbidToolArg { .. }
        | Consequence::ForbidEnvAction(_)
        | Consequence::ForbidEffect(_) => StatementKind::Prohibition,
    };
    Ok(Constraint {
        id: RuleId::said(number),
        kind,
        quote: text.trim().to_owned(),
        turn: Turn(0),
        span: Span { start: 0, end: text.trim().chars().count() as u32 },
        source: Source::Decided,
        scope: Scope::Project,
        rule: Some(rule.to_string()),
        note: None,
        confidence: 1.0,
        state: ConstraintState::Active,
        expires: None,
        once: None,
    })
}

fn retire(house: &House, workspace: &Path, id: RuleId, why: String) -> Result<()> {
    if id.origin == Origin::Core {
        bail!(
            "{id} is a core rule: those are changed in their file ({}), the shipped ones only by an exception you state",
            house.dirs.rules_file().display()
        );
    }
    let store = house.store(workspace)?;
    let mut writer = store.open_library()?;
    let state = State::replay(&writer.read(&Stream::Library)?);
    let known = state.constraints.get(&id).with_context(|| {
        format!("{id} is no lasting rule of this directory; a session's own rules are revoked in the cockpit")
    })?;
    if !known.is_active() {
        bail!("{id} is {} already", known.state.word());
    }
    let event = Event::ConstraintChanged { id, state: ConstraintState::Revoked, why, by: "person".to_owned() };
    writer.append(SystemClock.now(), &[Entry { stream: Stream::Library, event }])?;
    print(&format!("{id} is revoked"))
}

pub fn grants(command: GrantsCommand, workspace: &Path) -> Result<ExitCode> {
    let house = House::open()?;
    let store = house.store(workspace)?;
    let reader = store.open_reader()?;
    match command {
        GrantsCommand::List { session } => {
            let Some(stream) = chosen(&reader, session)? else { return Ok(ExitCode::SUCCESS) };
            let now = SystemClock.now();
            let state = State::replay(&reader.read(&stream)?);
            for grant in state.grants.values() {
                print(&describe(grant, grant.is_live(now)))?;
            }
            if state.grants.is_empty() {
                print("no approvals in this session")?;
            }
        }
        GrantsCommand::Revoke { id, session, why } => {
            let id: GrantId = id.parse()?;
            let Some(Stream::Session(session)) = chosen(&reader, session)? else { bail!("there is no session here") };
            let mut writer = store.open_writer(&session)?;
            let stream = Stream::Session(session);
            let state = State::replay(&writer.read(&stream)?);
            let grant = state.grants.get(&id).with_context(|| format!("there is no grant {id} in this session"))?;
            if grant.revoked {
                bail!("{id} is revoked already");
            }
            let event = Event::GrantRevoked { grant: id, why };
            writer.append(SystemClock.now(), &[Entry { stream, event }])?;
            print(&format!("{id} is revoked"))?;
        }
    }
    Ok(ExitCode::SUCCESS)
}

fn chosen(reader: &Reader, session: Option<String>) -> Result<Option<Stream>> {
    let id = match session {
        Some(name) => Some(reader.session(&name)?),
        None => reader.sessions()?.into_iter().next().map(|s| s.id),
    };
    if id.is_none() {
        print("no session in this directory yet")?;
    }
    Ok(id.map(Stream::Session))
}

fn describe(grant: &Grant, live: bool) -> String {
    let state = match (live, grant.revoked) {
        (_, true) => "revoked",
        (true, false) => "live",
        (false, false) => "used up",
    };
    let verbs: Vec<&str> = grant.verbs.iter().map(|v| v.word()).collect();
    let resources: Vec<String> = grant.resources.iter().map(ToString::to_string).collect();
    format!(
        "{:<4} {state:<8} {}  [{} {}] turn {}, by {}, used {}×",
        grant.id.to_string(),
        grant.words,
        verbs.join("/"),
        resources.join(" "),
        grant.turn,
        grant.approver,
        grant.used
    )
}
