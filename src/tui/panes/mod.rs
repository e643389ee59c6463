//! The parts of the screen, one file each: state in, rows out. Where they go is `layout`'s, how it all comes
//! together `view`'s.

pub mod action;
pub mod audit;
pub mod composer;
pub mod dock;
pub mod header;
pub mod help;
pub mod in_force;
pub mod latch;
pub mod repairs;
pub mod restored;
pub mod rules;
pub mod start;
pub mod trace;
pub mod transcript;

use super::{
    keymap::Keymap,
    theme::{Role, Theme},
    ui_state::{Pane, Ui},
    widgets::wrap::{Break, Spans, hang, width as width_of, wrap},
};
use crate::session::State;
use ratatui::text::{Line, Span};

/// Everything a part may look at.
#[derive(Clone, Copy)]
pub struct Look<'a> {
    pub state: &'a State,
    pub ui: &'a Ui,
    pub theme: &'a Theme,
    pub keymap: &'a Keymap,
}

impl Look<'_> {
    pub fn paint(&self, role: Role, text: impl AsRef<str>) -> Span<'static> {
        self.theme.paint(role, text)
    }

    /// One line of words, wrapped behind `indent` blanks.
    pub fn words(&self, role: Role, text: &str, indent: usize, width: usize) -> Vec<Line<'static>> {
        let lead = || vec![Span::raw(" ".repeat(indent))];
        text.lines().flat_map(|line| hang(lead(), &[self.paint(role, line)], width, Break::Words)).collect()
    }

    /// What an empty pane says: what would be here, and how to make it.
    pub fn teach(&self, text: &str, width: usize) -> Vec<Line<'static>> {
        self.words(Role::Dim, text, 1, width)
    }

    /// The person's sentence in quotation marks, with where it stands at the right edge of its last row.
    pub fn quote(&self, quote: &str, place: &str, indent: usize, width: usize) -> Vec<Line<'static>> {
        let text = format!("“{}”", quote.split_whitespace().collect::<Vec<_>>().join(" "));
        let mut rows = self.words(Role::Quote, &text, indent, width.saturating_sub(1));
        let place = self.paint(Role::Dim, place);
        let wanted = place.width() + 2;
        if rows.last().is_none_or(|last| width_of(&last.spans) + wanted > width) {
            rows.push(Line::default());
        }
        if let Some(last) = rows.last_mut() {
            let gap = width.saturating_sub(width_of(&last.spans) + place.width() + 1);
            last.spans.push(Span::raw(" ".repeat(gap)));
            last.spans.push(place);
        }
        rows
    }
}

/// A pane's title: its name, the figures beside it.
pub fn title(look: Look<'_>, pane: Pane) -> (&'static str, Spans) {
    match pane {
        Pane::Transcript => ("Transcript", transcript_figures(look)),
        Pane::InForce => ("In force", in_force::figures(look)),
        Pane::Restored => ("Restored", restored::figures(look)),
        Pane::Audit => ("Audit", audit::figures(look)),
        Pane::Repairs => ("Repairs", repairs::figures(look)),
        Pane::Latch => ("Latch", latch::figures(look)),
    }
}

/// A pane's rows at this width; `roomy` where there is space for what is else one key away.
pub fn rows(look: Look<'_>, pane: Pane, width: usize, roomy: bool) -> Vec<Line<'static>> {
    match pane {
        Pane::Transcript => Vec::new(),
        Pane::InForce => in_force::rows(look, width),
        Pane::Restored => restored::rows(look, width, roomy),
        Pane::Audit => audit::rows(look, width, roomy),
        Pane::Repairs => repairs::rows(look, width),
        Pane::Latch => latch::rows(look, width),
    }
}

fn transcript_figures(look: Look<'_>) -> Spans {
    match &look.ui.search {
        Some(words) => vec![look.paint(Role::Match, format!(" /{words} "))],
        None => Vec::new(),
    }
}

/// A rule's sign with its words: the constraint's sentence or the core rule's title.
pub fn rule_words(look: Look<'_>, rule: crate::domain::RuleId) -> (String, String) {
    if let Some(constraint) = look.state.constraints.get(&rule) {
        return (constraint.quote.clone(), place(constraint));
    }
    let core = look.state.opening.as_ref().and_then(|o| o.core.iter().find(|c| c.id == rule));
    core.map_or_else(
        || (String::new(), String::new()),
        |c| (c.title.clone(), if c.file == "core" { c.file.clone() } else { format!("core, {}", c.file) }),
    )
}

/// Where a constraint's words stand.
pub fn place(constraint: &crate::domain::Constraint) -> String {
    use crate::domain::Source;
    match &constraint.source {
        Source::Said => format!("turn {}", constraint.turn),
        Source::Pasted => format!("pasted, turn {}", constraint.turn),
        Source::Instructions { file } => file.clone(),
        Source::Decided => format!("decided, turn {}", constraint.turn),
    }
}

/// `spans` wrapped behind `lead`.
pub fn hanging(lead: Spans, body: Spans, width: usize) -> Vec<Line<'static>> {
    hang(lead, &body, width, Break::Words)
}

/// Rows of a plain paragraph.
pub fn paragraph(spans: &[Span<'static>], width: usize) -> Vec<Line<'static>> {
    wrap(spans, width, Break::Words).into_iter().map(Line::from).collect()
}
