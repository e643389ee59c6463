//! The first screen: what this is, whether there is a model, and what can be begun.

use super::{Look, hanging};
use crate::tui::{
    api::{Endpoint, Intent, Start},
    theme::Role,
    ui_state::Screen,
    widgets::{
        words,
        wrap::{Spans, justify},
    },
};
use ratatui::text::{Line, Span};

/// What can be chosen, from top to bottom.
pub fn choices(start: &Start) -> Vec<Intent> {
    let sessions = start.sessions.iter().map(|s| Intent::OpenSession(s.id.clone()));
    let demos = start.demos.iter().map(|(name, _)| Intent::StartDemo(name.clone()));
    let rehearsal = start.rehearsal.then_some(Intent::StartRehearsal);
    sessions.chain(demos).chain(rehearsal).collect()
}

/// Rows, and which choice each belongs to.
pub fn rows(look: Look<'_>, width: usize) -> Vec<(Line<'static>, Option<usize>)> {
    let Screen::Start(start) = &look.ui.screen else { return Vec::new() };
    let width = width.min(100);
    let mut page = Page { look, width, rows: Vec::new(), choice: 0 };
    page.intro();
    page.sessions(start);
    page.demos(start);
    page.own();
    page.rows
}

struct Page<'a> {
    look: Look<'a>,
    width: usize,
    rows: Vec<(Line<'static>, Option<usize>)>,
    choice: usize,
}

impl Page<'_> {
    fn say(&mut self, rows: Vec<Line<'static>>) {
        self.rows.extend(rows.into_iter().map(|row| (row, None)));
    }

    fn head(&mut self, text: &str) {
        let head = self.look.paint(Role::Title, format!("  {text}"));
        self.say(vec![Line::default(), Line::from(head)]);
    }

    fn offer(&mut self, what: Spans, aside: &str) {
        let chosen = self.look.ui.start_row == self.choice && self.look.ui.composer.is_empty();
        let sign = if chosen { self.look.paint(Role::Focus, "  ▸ ") } else { Span::raw("    ") };
        let mut left = vec![sign];
        left.extend(what);
        let mut right = vec![self.look.paint(Role::Dim, format!("{aside} "))];
        if chosen {
            let style = self.look.theme.style(Role::Selection);
            left.iter_mut().skip(1).chain(&mut right).for_each(|s| s.style = s.style.patch(style));
        }
        self.rows.push((justify(left, right, self.width), Some(self.choice)));
        self.choice += 1;
    }

    fn intro(&mut self) {
        let look = self.look;
        let name = vec![
            look.paint(Role::Strong, "weal  "),
            look.paint(
                Role::Text,
                "You say what must hold, an agent does the work, and nothing runs that breaks your word.",
            ),
        ];
        self.say(vec![Line::default()]);
        self.say(hanging(vec![Span::raw("  ")], name, self.width));
        self.say(vec![Line::default()]);
        let model = match &look.ui.endpoint {
            Endpoint::Configured { words } => {
                vec![look.paint(Role::Allow, "✓ model  "), look.paint(Role::Text, words)]
            }
            Endpoint::Missing { how } => vec![look.paint(Role::Warn, "! no model  "), look.paint(Role::Text, how)],
        };
        self.say(hanging(vec![Span::raw("  ")], model, self.width));
    }

    fn sessions(&mut self, start: &Start) {
        let look = self.look;
        self.head("Sessions of this directory");
        if start.sessions.is_empty() {
            self.say(look.words(Role::Dim, "None yet. What you begin here can be resumed here.", 4, self.width));
        }
        for session in &start.sessions {
            let mut what = vec![
                look.paint(Role::Dim, format!("{}  ", session.id.short())),
                look.paint(Role::Text, &session.about),
            ];
            if session.waiting > 0 {
                what.push(look.paint(Role::Ask, format!("  ⏸ {}", words::count(session.waiting as u64, "question"))));
            }
            self.offer(what, &format!("{}, {}", words::count(u64::from(session.turns), "turn"), session.when));
        }
    }

    fn demos(&mut self, start: &Start) {
        let look = self.look;
        if start.demos.is_empty() && !start.rehearsal {
            return;
        }
        self.head("See it work");
        for (name, about) in &start.demos {
            self.offer(
                vec![look.paint(Role::Strong, format!("demo {name}  ")), look.paint(Role::Text, about)],
                "real tools, scratch world",
            );
        }
        if start.rehearsal {
            let what = vec![
                look.paint(Role::Strong, "rehearsal  "),
                look.paint(Role::Text, "a simulated agent that forgets, in a scratch world"),
            ];
            self.offer(what, "simulated");
        }
    }

    fn own(&mut self) {
        let look = self.look;
        self.head("Or begin here");
        let lead = || vec![Span::raw("    ")];
        let write = match &look.ui.endpoint {
            Endpoint::Configured { .. } => "write what you want done, below",
            Endpoint::Missing { .. } => "write what must hold; without a model nobody answers, but it is in force",
        };
        self.say(hanging(lead(), vec![look.paint(Role::Key, "type  "), look.paint(Role::Text, write)], self.width));
        let own = vec![
            look.paint(Role::Key, "!command  "),
            look.paint(Role::Text, "propose an action yourself: it is audited like any other, such as "),
            look.paint(Role::Code, "!rm -rf build"),
        ];
        self.say(hanging(lead(), own, self.width));
    }
}
