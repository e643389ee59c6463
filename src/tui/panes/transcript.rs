//! What happened: turns, replies, actions with their verdicts. Only the rows on the screen are ever laid out, so a
//! log of any length draws alike.

use super::action;
use crate::{
    domain::{RuleId, Seq},
    session::{
        State,
        timeline::{Entry, Item, NoteSign},
    },
    tui::{
        theme::{Role, Theme},
        ui_state::{Scroll, Ui},
        widgets::{
            markdown, words,
            wrap::{Break, Spans, hang, width as width_of, wrap},
        },
    },
};
use ratatui::text::{Line, Span};
use std::{cell::RefCell, collections::BTreeMap, sync::Arc};

/// How many laid-out replies are remembered.
const REMEMBERED: usize = 400;
/// Below this width the speaker stands on a row of its own.
const NARROW: usize = 50;

type Rows = Arc<Vec<Line<'static>>>;

/// Layout of replies, which costs most and never changes.
#[derive(Debug, Clone, Default)]
pub struct Memo(RefCell<BTreeMap<(Seq, usize), Rows>>);

impl Memo {
    pub fn clear(&self) {
        self.0.borrow_mut().clear();
    }

    fn rows(&self, seq: Seq, width: usize, make: impl FnOnce() -> Vec<Line<'static>>) -> Rows {
        if let Some(rows) = self.0.borrow().get(&(seq, width)) {
            return Arc::clone(rows);
        }
        let rows = Arc::new(make());
        let mut known = self.0.borrow_mut();
        if known.len() >= REMEMBERED {
            known.clear();
        }
        known.insert((seq, width), Arc::clone(&rows));
        rows
    }
}

/// The transcript at one width.
#[derive(Clone, Copy)]
pub struct Page<'a> {
    pub state: &'a State,
    pub ui: &'a Ui,
    pub theme: &'a Theme,
    pub width: usize,
}

/// One row on the screen: the item it belongs to and its place in it.
pub type Row = (usize, usize, Line<'static>);

impl Page<'_> {
    /// Items, a reply that is coming in included.
    pub fn len(&self) -> usize {
        self.state.timeline.items.len() + usize::from(self.has_draft())
    }

    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    fn has_draft(&self) -> bool {
        self.state.calling && !self.ui.is_past()
    }

    pub fn rows(&self, index: usize) -> Rows {
        match self.state.timeline.items.get(index) {
            Some(item) => self.item(index, item),
            None if self.has_draft() && index == self.state.timeline.items.len() => Arc::new(self.draft()),
            None => Arc::default(),
        }
    }

    fn item(&self, index: usize, item: &Item) -> Rows {
        match &item.what {
            Entry::User { text, rules } => Arc::new(self.user(index, item, text, rules)),
            Entry::Agent { text, simulated } => self.ui.memo.rows(item.seq, self.width, || {
                let tag = simulated.then(|| self.theme.paint(Role::Simulated, " simulated "));
                let turn = self.first_of_turn(index).then_some(item.turn.0);
                self.speech(turn, "agent", Role::Agent, tag.into_iter().collect(), |width| {
                    markdown::render(self.theme, text, width, self.ui.code_in_colour)
                })
            }),
            Entry::Action(id) => {
                let expanded = self.ui.expanded.contains(&item.seq);
                Arc::new(action::rows(self.state, self.theme, *id, self.width, expanded))
            }
            Entry::Compacted { from, to, tokens_before, tokens_after } => {
                let turns = words::count(u64::from(to.0.saturating_sub(from.0) + 1), "turn");
                let sizes = format!("{} → {} tokens", words::short(*tokens_before), words::short(*tokens_after));
                let text = format!("── {turns}, compacted at turn {} · {sizes} ──", item.turn);
                let pad = self.width.saturating_sub(width_of(&[Span::raw(text.as_str())])) / 2;
                Arc::new(hang(
                    vec![Span::raw(" ".repeat(pad.min(12)))],
                    &[self.theme.paint(Role::Dim, text)],
                    self.width,
                    Break::Words,
                ))
            }
            Entry::Note { sign, text } => Arc::new(self.note(*sign, text)),
        }
    }

    /// The turn's number is shown once, where the turn begins.
    fn first_of_turn(&self, index: usize) -> bool {
        let items = &self.state.timeline.items;
        let before = index.checked_sub(1).and_then(|i| items.get(i));
        let here = items.get(index);
        before.is_none_or(|b| here.is_some_and(|h| h.turn != b.turn))
    }

    fn user(&self, index: usize, item: &Item, text: &str, rules: &[RuleId]) -> Vec<Line<'static>> {
        let mut signs = Spans::new();
        for rule in rules {
            let state = self.state.constraints.get(rule);
            let role = if state.is_some_and(|c| c.is_active()) { Role::Rule } else { Role::Dim };
            signs.push(self.theme.paint(role, format!(" {rule}")));
        }
        let mut rows = self.speech(Some(item.turn.0), "you", Role::User, signs, |width| {
            let wrapped = || {
                let lines = text.lines();
                lines
                    .flat_map(|line| wrap(&[self.theme.paint(Role::Text, line)], width, Break::Words))
                    .map(Line::from)
            };
            self.ui.memo.rows(item.seq, width, || wrapped().collect()).to_vec()
        });
        if index > 0 {
            rows.insert(0, Line::default());
        }
        rows
    }

    /// A speaker's gutter, the words beside it, and `tags` at the right edge of the last row.
    fn speech(
        &self,
        turn: Option<u32>,
        who: &str,
        role: Role,
        tags: Spans,
        body: impl FnOnce(usize) -> Vec<Line<'static>>,
    ) -> Vec<Line<'static>> {
        let number = turn.map(|t| t.to_string()).unwrap_or_default();
        let gutter =
            vec![self.theme.paint(Role::Dim, format!(" {number:>3} ")), self.theme.paint(role, format!("{who:<6} "))];
        let narrow = self.width < NARROW;
        let indent = if narrow { 2 } else { width_of(&gutter) };
        let width = self.width.saturating_sub(indent).max(1);
        let body = body(width);
        let mut rows = Vec::new();
        let mut lead = Some(gutter);
        if narrow {
            rows.extend(lead.take().map(Line::from));
        }
        for row in body {
            let mut line = lead.take().unwrap_or_else(|| vec![Span::raw(" ".repeat(indent))]);
            line.extend(row.spans);
            rows.push(Line::from(line));
        }
        rows.extend(lead.take().map(Line::from));
        self.tag(&mut rows, tags);
        rows
    }

    fn tag(&self, rows: &mut Vec<Line<'static>>, tags: Spans) {
        let wanted = width_of(&tags);
        if wanted == 0 {
            return;
        }
        let fits = rows.last().is_some_and(|last| width_of(&last.spans) + wanted < self.width);
        if !fits {
            rows.push(Line::default());
        }
        if let Some(last) = rows.last_mut() {
            let gap = self.width.saturating_sub(width_of(&last.spans) + wanted + 1);
            last.spans.push(Span::raw(" ".repeat(gap)));
            last.spans.extend(tags);
        }
    }

    fn note(&self, sign: NoteSign, text: &str) -> Vec<Line<'static>> {
        let (sign, role) = match sign {
            NoteSign::Info => ("·", Role::Dim),
            NoteSign::Problem => ("!", Role::Warn),
            NoteSign::Latch => ("◉", Role::Deny),
            NoteSign::Law => ("§", Role::Rule),
        };
        let lead = vec![self.theme.paint(role, format!("     {sign} "))];
        let mut rows = Vec::new();
        for (i, line) in text.lines().enumerate() {
            let lead = if i == 0 { lead.clone() } else { vec![Span::raw(" ".repeat(7))] };
            rows.extend(hang(lead, &[self.theme.paint(Role::Dim, line)], self.width, Break::Words));
        }
        rows
    }

    fn draft(&self) -> Vec<Line<'static>> {
        let draft = &self.ui.draft;
        let mut rows = self.speech(None, "agent", Role::Agent, Spans::new(), |width| {
            if draft.text.trim().is_empty() {
                let thinking = if draft.reasoning > 0 { "thinking …" } else { "…" };
                return vec![Line::from(self.theme.paint(Role::Draft, thinking))];
            }
            markdown::render(self.theme, &draft.text, width, false)
        });
        if let Some((name, bytes)) = &draft.call {
            let text = format!("    ▸ {name}  … {}", words::bytes(*bytes as f64));
            rows.push(Line::from(self.theme.paint(Role::Draft, text)));
        }
        if let Some(why) = &draft.retrying {
            rows.extend(hang(
                vec![self.theme.paint(Role::Warn, "     ! ")],
                &[self.theme.paint(Role::Dim, why)],
                self.width,
                Break::Words,
            ));
        }
        rows
    }

    /// The row that a frame of `height` rows begins with.
    pub fn top(&self, height: usize) -> (usize, usize) {
        match self.ui.scroll {
            Scroll::At { item, row } if item < self.len() => {
                let row = row.min(self.rows(item).len().saturating_sub(1));
                if self.fills(item, row, height) { (item, row) } else { self.last_page(height) }
            }
            Scroll::At { .. } | Scroll::Follow => self.last_page(height),
        }
    }

    /// There is at least a screen of rows from there on.
    fn fills(&self, item: usize, row: usize, height: usize) -> bool {
        let mut have = 0;
        for index in item..self.len() {
            have += self.rows(index).len();
            if have >= height + row {
                return true;
            }
        }
        false
    }

    fn last_page(&self, height: usize) -> (usize, usize) {
        self.ends_with(self.len().saturating_sub(1), height)
    }

    /// The top of a page whose last row is the last of `item`.
    fn ends_with(&self, item: usize, height: usize) -> (usize, usize) {
        let (mut index, mut need) = (item, height);
        loop {
            let have = self.rows(index).len();
            if have >= need {
                return (index, have - need);
            }
            need -= have;
            match index.checked_sub(1) {
                Some(before) => index = before,
                None => return (0, 0),
            }
        }
    }

    /// The rows of a frame.
    pub fn frame(&self, height: usize) -> Vec<Row> {
        let (first, skip) = self.top(height);
        let mut frame = Vec::with_capacity(height);
        for index in first..self.len() {
            let rows = self.rows(index);
            let skip = if index == first { skip } else { 0 };
            for (row, line) in rows.iter().enumerate().skip(skip) {
                if frame.len() == height {
                    return frame;
                }
                frame.push((index, row, line.clone()));
            }
        }
        frame
    }

    /// Where `by` rows further down (or up) is.
    pub fn scrolled(&self, by: isize, height: usize) -> Scroll {
        let (mut item, mut row) = self.top(height);
        let mut left = by.unsigned_abs();
        if by < 0 {
            while left > row {
                left -= row;
                let Some(before) = item.checked_sub(1) else { return self.place(0, 0, height) };
                (item, row) = (before, self.rows(before).len());
            }
            return self.place(item, row - left, height);
        }
        loop {
            let have = self.rows(item).len();
            if row + left < have {
                return self.place(item, row + left, height);
            }
            left -= have - row;
            (item, row) = (item + 1, 0);
            if item >= self.len() {
                return Scroll::Follow;
            }
        }
    }

    /// Following where that shows the same rows.
    fn place(&self, item: usize, row: usize, height: usize) -> Scroll {
        if self.fills(item, row, height + 1) { Scroll::At { item, row } } else { Scroll::Follow }
    }

    /// The least scrolling that brings `item` on the screen.
    pub fn reveal(&self, item: usize, height: usize) -> Scroll {
        let (first, skip) = self.top(height);
        if item < first || (item == first && skip > 0) {
            return self.place(item, 0, height);
        }
        let mut below = 0;
        for index in first..=item {
            below += self.rows(index).len();
            if below > height + skip {
                let (top, row) = self.ends_with(item, height);
                return if top >= item { self.place(item, 0, height) } else { self.place(top, row, height) };
            }
        }
        self.place(first, skip, height)
    }

    /// Does the item hold these words? Case does not matter.
    pub fn matches(&self, index: usize, wanted: &str) -> bool {
        let holds = |text: &str| text.to_lowercase().contains(wanted);
        self.state.timeline.items.get(index).is_some_and(|item| match &item.what {
            Entry::User { text, .. } | Entry::Agent { text, .. } | Entry::Note { text, .. } => holds(text),
            Entry::Action(id) => self.state.handlings.get(id).is_some_and(|h| {
                let call = &h.proposal.call;
                holds(&format!("{}  {}", call.tool, words::call(call)))
                    || h.note.as_deref().is_some_and(holds)
                    || h.outcome.as_ref().is_some_and(|o| holds(&o.output.head))
            }),
            Entry::Compacted { .. } => false,
        })
    }
}
