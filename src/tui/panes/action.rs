//! One proposal in the transcript: the call, each verdict, what was done for it, what came of it.

use crate::{
    domain::{
        Action, Audit, Decision, Demand, Finding, HumanDecision, Outcome, ProposalId, Proposer, RuleId, Status,
    },
    session::{Handling, Stage, State},
    tui::{
        theme::{Role, Theme},
        widgets::{
            diff, words,
            wrap::{Break, Spans, hang, justify, truncate, width as width_of, wrap},
        },
    },
};
use ratatui::text::{Line, Span};

/// Rows of a folded call, of folded output, of a folded diff.
const FOLDED_CALL: usize = 3;
const FOLDED_OUTPUT: usize = 3;
const FOLDED_DIFF: usize = 8;

/// Sign, word and colour of a decision, the same everywhere.
pub const fn decision(decision: Decision) -> (&'static str, &'static str, Role) {
    match decision {
        Decision::Allow => ("✓", "allowed", Role::Allow),
        Decision::Repair => ("↻", "repair", Role::Repair),
        Decision::Ask => ("?", "ask", Role::Ask),
        Decision::Deny => ("✕", "denied", Role::Deny),
    }
}

pub fn rows(state: &State, theme: &Theme, id: ProposalId, width: usize, expanded: bool) -> Vec<Line<'static>> {
    let Some(handling) = state.handlings.get(&id) else { return Vec::new() };
    let block = Block { state, theme, width, expanded, handling };
    block.rows()
}

struct Block<'a> {
    state: &'a State,
    theme: &'a Theme,
    width: usize,
    expanded: bool,
    handling: &'a Handling,
}

impl Block<'_> {
    fn rows(&self) -> Vec<Line<'static>> {
        let h = self.handling;
        let mut rows = self.call();
        let mut audits = h.audits.iter();
        if let Some(first) = audits.next() {
            rows.extend(self.audit(first, false));
        }
        for repair in h.repairs.iter().filter_map(|id| self.state.handlings.get(id)) {
            rows.extend(self.repair(repair));
        }
        for (decision, approver) in &h.decisions {
            rows.extend(self.decided(decision, approver));
        }
        if let Some(last) = audits.next_back() {
            rows.extend(self.audit(last, true));
        }
        rows.extend(self.end());
        rows
    }

    fn call(&self) -> Vec<Line<'static>> {
        let call = &self.handling.proposal.call;
        let who = match self.handling.proposal.by {
            Proposer::Person => " (you)",
            Proposer::Model { .. } | Proposer::Repair { .. } => "",
        };
        let lead = vec![
            self.theme.paint(Role::Dim, "    ▸ "),
            self.theme.paint(Role::Tool, &call.tool),
            self.theme.paint(Role::Dim, format!("{who}  ")),
        ];
        let lead =
            if width_of(&lead) * 2 > self.width { vec![self.theme.paint(Role::Dim, "    ▸ ")] } else { lead };
        let text = words::call(call);
        let text = if self.expanded { text } else { text.trim_end().replace('\n', " ↵ ") };
        let mut rows = Vec::new();
        for (i, line) in text.lines().enumerate() {
            let lead = if i == 0 { lead.clone() } else { vec![Span::raw(" ".repeat(width_of(&lead)))] };
            rows.extend(hang(lead, &[self.theme.paint(Role::Code, line)], self.width, Break::Words));
        }
        if rows.is_empty() {
            rows.push(Line::from(lead));
        }
        self.fold(rows, FOLDED_CALL, 8)
    }

    /// The first rows, and how many more there are.
    fn fold(&self, mut rows: Vec<Line<'static>>, keep: usize, indent: usize) -> Vec<Line<'static>> {
        if self.expanded || rows.len() <= keep + 1 {
            return rows;
        }
        let more = words::count((rows.len() - keep) as u64, "more row");
        rows.truncate(keep);
        rows.push(Line::from(self.theme.paint(Role::Dim, format!("{}… {more}, Enter opens", " ".repeat(indent)))));
        rows
    }

    /// Rows of the block: sign and word, what it is about, the rule at the right edge of the first.
    fn row(&self, sign: &str, word: &str, role: Role, what: Spans, rule: Option<RuleId>) -> Vec<Line<'static>> {
        let lead = vec![self.theme.paint(role, format!("      {sign} {word:<8} "))];
        let right: Spans = rule.map(|rule| self.theme.paint(Role::Rule, rule.to_string())).into_iter().collect();
        let taken = if right.is_empty() { 0 } else { width_of(&right) + 1 };
        let mut rows = hang(lead, &what, self.width.saturating_sub(taken), Break::Words);
        if let Some(first) = rows.first_mut() {
            *first = justify(std::mem::take(&mut first.spans), right, self.width);
        }
        rows
    }

    fn audit(&self, audit: &Audit, again: bool) -> Vec<Line<'static>> {
        let (sign, word, role) = decision(audit.decision);
        let mut open: Vec<&Finding> = audit.open().filter(|f| f.level == audit.decision).collect();
        if open.is_empty() {
            open = audit.open().collect();
        }
        if audit.decision == Decision::Allow || open.is_empty() {
            let mut what = Vec::new();
            let discharged = audit.findings.iter().filter(|f| !f.is_open());
            let grants =
                discharged.filter_map(|f| f.granted.map(|g| g.to_string()).or(f.lifted.map(|r| r.to_string())));
            let grants: std::collections::BTreeSet<String> = grants.collect();
            if again {
                what.push("audited again".to_owned());
            }
            if !grants.is_empty() {
                what.push(format!("under {}", grants.into_iter().collect::<Vec<_>>().join(", ")));
            }
            if let (Decision::Ask, Some(question)) = (audit.decision, &self.handling.question) {
                what.push(question.clone());
            }
            let what = vec![self.theme.paint(Role::Dim, what.join(": "))];
            return self.row(sign, word, role, what, None);
        }
        let rows: Vec<_> = open
            .iter()
            .flat_map(|f| {
                let what = vec![self.theme.paint(Role::Text, subject(self.handling.action.as_ref(), f))];
                self.row(sign, word, role, what, Some(f.rule))
            })
            .collect();
        self.fold(rows, 4, 8)
    }

    fn repair(&self, repair: &Handling) -> Vec<Line<'static>> {
        let mut what = vec![self.theme.paint(Role::Text, subject_of(repair))];
        let (mark, role) = match (repair.stage, &repair.outcome) {
            (_, Some(outcome)) if outcome.status == Status::Succeeded => ("✓", Role::Allow),
            (Stage::Denied | Stage::Dropped, _) | (_, Some(_)) => ("✕", Role::Deny),
            (_, None) => ("…", Role::Dim),
        };
        what.push(self.theme.paint(role, format!("  {mark} ")));
        if let Some(outcome) = &repair.outcome {
            what.push(self.theme.paint(Role::Dim, repaired(outcome)));
        } else {
            what.push(self.theme.paint(Role::Dim, repair.stage.word()));
        }
        self.row("↳", "first", Role::Repair, what, None)
    }

    fn decided(&self, decision: &HumanDecision, approver: &str) -> Vec<Line<'static>> {
        let who = if approver == "person" { "you" } else { approver };
        let more = match decision {
            HumanDecision::ApproveSession { words } => format!(": {words}"),
            HumanDecision::Deny { feedback } if !feedback.is_empty() => format!(": “{feedback}”"),
            HumanDecision::Edit { call } => format!(": {}", words::call(call)),
            HumanDecision::ApproveOnce
            | HumanDecision::Deny { .. }
            | HumanDecision::RepairFirst
            | HumanDecision::AskHuman => String::new(),
        };
        let what = vec![
            self.theme.paint(Role::Strong, decision.word().replace('_', " ")),
            self.theme.paint(Role::Text, more),
        ];
        self.row("›", who, Role::User, what, None)
    }

    fn end(&self) -> Vec<Line<'static>> {
        let h = self.handling;
        let mut rows = Vec::new();
        match (h.stage, &h.outcome) {
            (_, Some(outcome)) => rows.extend(self.outcome(outcome)),
            (Stage::Running, None) => rows.extend(self.row("⏵", "running", Role::Strong, Vec::new(), None)),
            (Stage::Asked, None) => rows.extend(self.row(
                "⏸",
                "waiting",
                Role::Ask,
                vec![
                self.theme.paint(Role::Dim, if h.is_put_off() { "put to someone else" } else { "for your answer" }),
            ],
                None,
            )),
            (Stage::Unresolved, None) => rows.extend(self.row(
                "⏸",
                "unsure",
                Role::Ask,
                vec![self.theme.paint(Role::Dim, "it ran when the process died: it may have happened")],
                None,
            )),
            (Stage::Dropped, None) => rows.extend(self.row(
                "–",
                "dropped",
                Role::Dim,
                vec![
                self.theme.paint(Role::Dim, h.note.as_deref().unwrap_or_default().lines().next().unwrap_or_default()),
            ],
                None,
            )),
            (
                Stage::Proposed
                | Stage::Understood
                | Stage::Audited
                | Stage::Repairing
                | Stage::Finished
                | Stage::Denied,
                None,
            ) => {}
        }
        if self.expanded {
            rows.extend(self.body(h.note.as_deref().unwrap_or_default(), Role::Dim));
        }
        rows
    }

    fn body(&self, text: &str, role: Role) -> Vec<Line<'static>> {
        let width = self.width.saturating_sub(8).max(1);
        let wrapped = text.lines().flat_map(|line| wrap(&[self.theme.paint(role, line)], width, Break::Anywhere));
        wrapped.map(|row| Line::from([vec![Span::raw(" ".repeat(8))], row].concat())).collect()
    }

    fn outcome(&self, outcome: &Outcome) -> Vec<Line<'static>> {
        let (sign, word, role) = match outcome.status {
            Status::Succeeded => ("✓", "done", Role::Allow),
            Status::Failed => ("✕", "failed", Role::Deny),
            Status::TimedOut => ("✕", "timed out", Role::Deny),
            Status::Cancelled => ("–", "cancelled", Role::Warn),
            Status::Unknown => ("?", "may have happened", Role::Ask),
        };
        let mut what = Vec::new();
        if let Some(code) = outcome.exit {
            what.push(format!("exit {code}"));
        }
        what.push(words::seconds(outcome.millis));
        if let Some(backup) = &outcome.backup {
            what.push(format!("{} backed up", words::count(backup.files, "file")));
        }
        let what = vec![self.theme.paint(Role::Dim, what.join(" · "))];
        let mut rows = self.row(sign, word, role, what, None);
        if let Some(text) = &outcome.diff {
            let width = self.width.saturating_sub(8).max(1);
            let shown = diff::render(self.theme, text, width)
                .into_iter()
                .map(|row| Line::from([vec![Span::raw(" ".repeat(8))], row.spans].concat()));
            rows.extend(self.fold(shown.collect(), FOLDED_DIFF, 8));
        }
        let output = self.body(outcome.output.shown().trim_end(), Role::Dim);
        rows.extend(self.fold(output, FOLDED_OUTPUT, 8));
        rows
    }
}

/// What a finding is about: the effect, and what is asked of it.
pub fn subject(action: Option<&Action>, finding: &Finding) -> String {
    let effect = action.and_then(|a| a.effects.get(finding.effect));
    let effect = effect.map_or_else(|| finding.matched.clone(), ToString::to_string);
    match &finding.demand {
        Demand::Before { verb, .. } if finding.is_open() => format!("{verb} before {effect}"),
        Demand::Limit { attr, max, would_be, unit } => {
            let unit = unit.as_deref().map(|u| format!(" {u}")).unwrap_or_default();
            format!("{effect}: {attr} would be {would_be}{unit} of {max}{unit}")
        }
        Demand::Unknown { why } => format!("{effect}: {why}"),
        Demand::Forbidden | Demand::Before { .. } | Demand::Approval => effect,
    }
}

/// A repair step in a few words.
pub fn subject_of(repair: &Handling) -> String {
    let effects = repair.action.as_ref().map(|a| a.effects.as_slice()).unwrap_or_default();
    effects.first().map_or_else(
        || format!("{} {}", repair.proposal.call.tool, words::call(&repair.proposal.call)),
        ToString::to_string,
    )
}

/// What a repair came to.
pub fn repaired(outcome: &Outcome) -> String {
    match &outcome.backup {
        Some(backup) => {
            let verified = if backup.verified { "verified" } else { "not verified" };
            format!("{}, {verified}, {}", words::count(backup.files, "file"), words::seconds(outcome.millis))
        }
        None => format!("{}, {}", outcome.status.word(), words::seconds(outcome.millis)),
    }
}

/// The call in one row, for titles.
pub fn title(theme: &Theme, handling: &Handling, width: usize) -> Spans {
    let call = &handling.proposal.call;
    truncate(
        vec![
            theme.paint(Role::Dim, format!("{} ", handling.id())),
            theme.paint(Role::Tool, format!("{} ", call.tool)),
            theme.paint(Role::Code, words::call(call)),
        ],
        width,
    )
}
