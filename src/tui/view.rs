//! State and cursor in, cells out: puts the parts where `layout` says and tells what is where.

use super::{
    keymap::{Act, Situation},
    layout::{self, Areas, LEAST, Shown, Target},
    panes::{self, Look, composer, dock, header, help, rules, start, trace, transcript::Page},
    theme::{Role, asciify},
    ui_state::{Asks, EditForm, Focus, Overlay, Pane, Screen},
    widgets::wrap::{Break, Spans, justify, width as width_of, wrap},
};
use ratatui::{
    buffer::Buffer,
    layout::{Position, Rect},
    text::{Line, Span},
    widgets::Widget as _,
};

/// Draws one frame.
pub fn draw(look: Look<'_>, screen: Rect, buffer: &mut Buffer) -> Shown {
    buffer.set_style(screen, look.theme.base());
    let mut frame = Frame { look, buffer, shown: Shown::default() };
    if screen.width < LEAST.0 || screen.height < LEAST.1 {
        frame.too_small(screen);
    } else {
        frame.all(screen);
    }
    let shown = frame.shown;
    if look.theme.ascii {
        asciify(buffer);
    }
    shown
}

struct Frame<'a> {
    look: Look<'a>,
    buffer: &'a mut Buffer,
    shown: Shown,
}

fn small(n: usize) -> u16 {
    u16::try_from(n).unwrap_or(u16::MAX)
}

impl Frame<'_> {
    fn line(&mut self, x: u16, y: u16, line: &Line<'_>, width: u16) {
        self.buffer.set_line(x, y, line, width);
    }

    /// Rows into an area, as many as fit.
    fn rows(&mut self, area: Rect, rows: impl IntoIterator<Item = Line<'static>>) {
        for (y, row) in (area.top()..area.bottom()).zip(rows) {
            self.line(area.x, y, &row, area.width);
        }
    }

    fn hit(&mut self, area: Rect, target: Target) {
        self.shown.hits.push((area, target));
    }

    fn too_small(&mut self, screen: Rect) {
        let text = format!("weal needs {} × {}; this is {} × {}.", LEAST.0, LEAST.1, screen.width, screen.height);
        let text = self.look.paint(Role::Text, text);
        let rows = wrap(&[text], usize::from(screen.width), Break::Words);
        self.rows(screen, rows.into_iter().map(Line::from));
    }

    fn all(&mut self, screen: Rect) {
        let look = self.look;
        let wide = usize::from(screen.width);
        let (text, cursor) = composer::rows(look, wide);
        let showing_dock = look.ui.dock.is_some() && !look.ui.rules.open;
        let (dock_body, dock_keys) =
            if showing_dock { (dock::body(look, wide), dock::keys(look, wide)) } else { Default::default() };
        let wanted = if showing_dock { small(dock_body.len() + dock_keys.len() + 1) } else { 0 };
        let elsewhere = matches!(look.ui.focus, Focus::Pane(_)) && screen.height < layout::SHORT;
        let wanted = if elsewhere { wanted.min(5) } else { wanted };
        let areas = layout::divide(screen, wanted, small(text.len().min(composer::MOST)), look.ui.focus);

        let head = header::row(look, wide);
        self.buffer.set_style(areas.header, look.theme.style(Role::Bar));
        self.rows(areas.header, [head]);
        self.main(&areas);
        if showing_dock {
            self.dock(areas.dock, dock_body, dock_keys);
        }
        self.composer(areas.composer, text, cursor);
        self.rows(areas.hints, [composer::hints(look, wide)]);
        self.overlay(screen);
    }

    fn main(&mut self, areas: &Areas) {
        let whole = areas.columns.iter().fold(areas.transcript.union(areas.tabs), |all, (area, _)| all.union(*area));
        if self.look.ui.rules.open {
            self.rules(whole);
        } else if matches!(self.look.ui.screen, Screen::Start(_)) {
            self.start(whole);
        } else {
            self.tabs(areas.tabs);
            self.transcript(areas.transcript);
            let beside = areas.tabs.is_empty();
            let roomy = areas.columns.len() > 1 && whole.height >= layout::SHORT;
            for (area, panes) in &areas.columns {
                let area = if beside { self.divider(*area) } else { *area };
                self.column(area, panes, roomy);
            }
        }
    }

    /// A line down the left side of a column; what is right of it.
    fn divider(&mut self, area: Rect) -> Rect {
        for y in area.top()..area.bottom() {
            let bar = Line::from(self.look.paint(Role::Border, "│"));
            self.line(area.x, y, &bar, 1);
        }
        Rect { x: area.x + 1, width: area.width.saturating_sub(1), ..area }
    }

    /// A title on a rule; what is below it.
    fn titled(&mut self, area: Rect, left: Spans, right: Spans, focused: bool) -> Rect {
        if area.is_empty() {
            return area;
        }
        let wide = usize::from(area.width);
        let rule = self.look.paint(if focused { Role::Focus } else { Role::Border }, if focused { "━" } else { "─" });
        let repeated = |n: usize| Span::styled(rule.content.repeat(n), rule.style);
        let mut line = vec![repeated(1)];
        line.extend(left);
        let gap = wide.saturating_sub(width_of(&line) + width_of(&right) + 1);
        line.push(repeated(gap));
        line.extend(right);
        line.push(repeated(1));
        self.line(area.x, area.y, &Line::from(line), area.width);
        Rect { y: area.y + 1, height: area.height - 1, ..area }
    }

    fn pane_title(&self, pane: Pane) -> Spans {
        let (name, figures) = panes::title(self.look, pane);
        let role = if self.look.ui.focus == Focus::Pane(pane) { Role::Focus } else { Role::Title };
        let mut title = vec![self.look.paint(role, format!(" {name} "))];
        if !figures.is_empty() {
            title.extend(figures);
            title.push(Span::raw(" "));
        }
        title
    }

    fn tabs(&mut self, area: Rect) {
        if area.is_empty() {
            return;
        }
        let (line, hits) = header::tabs(self.look, usize::from(area.width));
        self.rows(area, [line]);
        for (at, wide, target) in hits {
            self.hit(Rect::new(area.x + small(at), area.y, small(wide), 1), target);
        }
    }

    fn transcript(&mut self, area: Rect) {
        let focused = self.look.ui.focus == Focus::Pane(Pane::Transcript);
        self.hit(area, Target::Pane(Pane::Transcript));
        let title = self.pane_title(Pane::Transcript);
        let body = Rect { y: area.y + area.height.min(1), height: area.height.saturating_sub(1), ..area };
        let body = Rect { width: body.width.saturating_sub(1), ..body };
        self.shown.transcript = body;
        let look = self.look;
        let page = Page { state: look.state, ui: look.ui, theme: look.theme, width: usize::from(body.width) };
        let rows = page.frame(usize::from(body.height));
        let below = rows.last().map_or(0, |(item, _, _)| page.len() - 1 - item);
        let more = match below {
            0 => Vec::new(),
            n => vec![look.paint(Role::Dim, format!(" ↓ {n} more "))],
        };
        self.titled(area, title, more, focused);
        if page.is_empty() {
            let text = "Nothing yet. What you, the agent and weal say and do stands here, in order.";
            let rows = look.teach(text, usize::from(body.width));
            self.rows(body, rows);
        }
        for (y, (item, _, line)) in (body.y..).zip(rows) {
            self.line(body.x, y, &line, body.width);
            let row = Rect::new(body.x, y, body.width, 1);
            self.hit(row, Target::Item(item));
            if look.ui.selected == Some(item) {
                let mark = Line::from(look.paint(Role::Focus, if focused { "▌" } else { "│" }));
                self.line(body.x, y, &mark, 1);
            }
            self.highlight(row);
        }
    }

    /// Marks what is searched for in one row of cells.
    fn highlight(&mut self, row: Rect) {
        let Some(wanted) = self.look.ui.search.as_deref().map(str::to_lowercase).filter(|w| !w.is_empty()) else {
            return;
        };
        let mut text = String::new();
        let mut columns = Vec::new();
        for x in row.left()..row.right() {
            let symbol = self.buffer.cell(Position::new(x, row.y)).map(|c| c.symbol().to_lowercase());
            let symbol = symbol.unwrap_or_default();
            columns.extend(std::iter::repeat_n(x, symbol.len()));
            text.push_str(&symbol);
        }
        let style = self.look.theme.style(Role::Match);
        for (at, found) in text.match_indices(&wanted) {
            if let (Some(from), Some(to)) = (columns.get(at), columns.get(at + found.len() - 1)) {
                self.buffer.set_style(Rect::new(*from, row.y, to - from + 1, 1), style);
            }
        }
    }

    fn column(&mut self, area: Rect, panes: &[Pane], roomy: bool) {
        let wide = usize::from(area.width);
        let rows = |pane: &Pane| panes::rows(self.look, *pane, wide, roomy);
        let contents: Vec<Vec<Line<'static>>> = panes.iter().map(rows).collect();
        let wanted: Vec<usize> = contents.iter().map(|rows| rows.len() + 1).collect();
        for ((pane, rows), area) in panes.iter().zip(contents).zip(layout::stack(area, &wanted)) {
            let title = self.pane_title(*pane);
            let most = rows.len().saturating_sub(usize::from(area.height.saturating_sub(1)));
            let scroll = self.look.ui.pane_scroll.get(pane).copied().unwrap_or(0).min(most);
            let more = if most > scroll {
                vec![self.look.paint(Role::Dim, format!(" ↓ {} ", most - scroll))]
            } else {
                Vec::new()
            };
            let body = self.titled(area, title, more, self.look.ui.focus == Focus::Pane(*pane));
            self.junction(area);
            self.shown.pane_most.push((*pane, most));
            self.hit(area, Target::Pane(*pane));
            self.rows(body, rows.into_iter().skip(scroll));
        }
    }

    /// Where a title's rule meets the line on the left of its column.
    fn junction(&mut self, area: Rect) {
        let Some(x) = area.x.checked_sub(1).filter(|_| !area.is_empty()) else { return };
        if let Some(cell) = self.buffer.cell_mut(Position::new(x, area.y))
            && cell.symbol() == "│"
        {
            cell.set_symbol("├");
        }
    }

    fn dock(&mut self, area: Rect, body: Vec<Line<'static>>, keys: Vec<Line<'static>>) {
        let focused = self.look.ui.focus == Focus::Dock;
        self.hit(area, Target::Dock);
        let inside = usize::from(area.height.saturating_sub(1)).saturating_sub(keys.len());
        let most = body.len().saturating_sub(inside);
        let scroll = self.look.ui.dock.as_ref().map_or(0, |d| d.scroll).min(most);
        let (left, mut right) = dock::title(self.look);
        if most > scroll {
            right.insert(0, self.look.paint(Role::Ask, format!(" ↓ {} more ", most - scroll)));
        }
        let below = self.titled(area, left, right, focused);
        let keys_area = Rect { y: below.y + small(inside.min(body.len())), ..below }.intersection(below);
        self.shown.dock_end = scroll == most && inside > 0;
        self.shown.dock_most = most;
        self.shown.dock_rows = inside;
        let text = Rect { height: below.height.min(small(inside)), ..below };
        self.rows(text, body.into_iter().skip(scroll));
        self.rows(keys_area, keys);
    }

    fn composer(&mut self, area: Rect, rows: Vec<Line<'static>>, (row, column): (usize, usize)) {
        self.hit(area, Target::Composer);
        let focused =
            self.look.ui.focus == Focus::Composer && self.look.ui.overlay.is_none() && !self.look.ui.rules.open;
        let body = self.titled(area, Vec::new(), Vec::new(), focused);
        let inside = usize::from(body.height);
        let skip = (row + 1).saturating_sub(inside);
        self.rows(body, rows.into_iter().skip(skip));
        if focused && !self.look.ui.is_past() && inside > 0 {
            let x = body.x + small(column).min(body.width.saturating_sub(1));
            self.shown.cursor = Some(Position::new(x, body.y + small(row - skip)));
        }
    }

    fn start(&mut self, area: Rect) {
        let rows = start::rows(self.look, usize::from(area.width));
        let chosen = rows.iter().position(|(_, choice)| *choice == Some(self.look.ui.start_row)).unwrap_or(0);
        let skip = (chosen + 2).saturating_sub(usize::from(area.height));
        for (y, (line, choice)) in (area.top()..area.bottom()).zip(rows.into_iter().skip(skip)) {
            self.line(area.x, y, &line, area.width);
            if let Some(choice) = choice {
                self.hit(Rect::new(area.x, y, area.width, 1), Target::StartRow(choice));
            }
        }
    }

    fn rules(&mut self, area: Rect) {
        let look = self.look;
        let beside = area.width >= 90;
        let (list, detail) = if beside {
            let wide = (area.width * 2 / 5).clamp(36, 64);
            let list = Rect { width: wide, ..area };
            (list, Rect { x: area.x + wide, width: area.width - wide, ..area })
        } else {
            let high = area.height * 2 / 5;
            (Rect { height: high, ..area }, Rect { y: area.y + high, height: area.height - high, ..area })
        };
        let title = vec![
            look.paint(Role::Focus, " Rules "),
            look.paint(Role::Strong, rules::list(look.state).len().to_string()),
            Span::raw(" "),
        ];
        let body = self.titled(list, title, Vec::new(), true);
        let rows = rules::list_rows(look, usize::from(body.width));
        let chosen = rules::selected(look).map(|k| k.id());
        let at = rows.iter().position(|(_, id)| id.is_some() && *id == chosen).unwrap_or(0);
        let skip = (at + 2).saturating_sub(usize::from(body.height)).min(rows.len());
        for (y, (line, id)) in (body.top()..body.bottom()).zip(rows.into_iter().skip(skip)) {
            self.line(body.x, y, &line, body.width);
            if let Some(id) = id {
                self.hit(Rect::new(body.x, y, body.width, 1), Target::Rule(id));
            }
        }
        let detail = if beside { self.divider(detail) } else { detail };
        self.hit(detail, Target::RuleDetail);
        let body = self.titled(detail, Vec::new(), Vec::new(), false);
        let rows = rules::detail(look, usize::from(body.width));
        self.shown.rules_most = rows.len().saturating_sub(usize::from(body.height));
        let scroll = look.ui.rules.scroll.min(self.shown.rules_most);
        self.rows(body, rows.into_iter().skip(scroll));
    }

    fn overlay(&mut self, screen: Rect) {
        let look = self.look;
        match &look.ui.overlay {
            None => {}
            Some(Overlay::Help) => self.sheet(screen, " Keys ", |width| help::rows(look, width)),
            Some(Overlay::Trace(id)) => {
                self.sheet(screen, &format!(" Trace of {id} "), |width| trace::rows(look, *id, width));
            }
            Some(Overlay::Field(field)) => {
                let title = match &field.asks {
                    Asks::Deny(id) => format!(" Deny {id}: say why (the agent is told) "),
                    Asks::OnRule(rule, decision) => format!(" {} {rule}: say why ", decision.word()),
                    Asks::Release => " Release the latch: say why ".to_owned(),
                    Asks::Search => " Search the transcript ".to_owned(),
                };
                self.field(screen, &title, &field.text);
            }
            Some(Overlay::Editor { area, form, error, .. }) => {
                self.editor(screen, area, *form, error.as_deref());
            }
        }
    }

    /// A box in the middle with rows that scroll.
    fn sheet(&mut self, screen: Rect, title: &str, rows: impl FnOnce(usize) -> Vec<Line<'static>>) {
        let wide = screen.width.saturating_sub(4).min(96);
        let rows = rows(usize::from(wide.saturating_sub(2)));
        let high = small(rows.len() + 2).min(screen.height.saturating_sub(2));
        let area = centred(screen, wide, high);
        let inside = self.boxed(area, title, "Esc");
        self.hit(area, Target::Overlay);
        self.shown.overlay_most = rows.len().saturating_sub(usize::from(inside.height));
        let scroll = self.look.ui.overlay_scroll.min(self.shown.overlay_most);
        if self.shown.overlay_most > scroll {
            let more = self.look.paint(Role::Dim, format!(" ↓ {} more ", self.shown.overlay_most - scroll));
            let x = area.right().saturating_sub(small(more.width()) + 2).max(area.x);
            self.line(x, area.bottom().saturating_sub(1), &Line::from(more), area.width);
        }
        self.rows(inside, rows.into_iter().skip(scroll));
    }

    fn boxed(&mut self, area: Rect, title: &str, close: &str) -> Rect {
        for y in area.top()..area.bottom() {
            for x in area.left()..area.right() {
                if let Some(cell) = self.buffer.cell_mut(Position::new(x, y)) {
                    cell.reset();
                }
            }
        }
        self.buffer.set_style(area, self.look.theme.base());
        let block = ratatui::widgets::Block::bordered()
            .border_style(self.look.theme.style(Role::Focus))
            .title(Line::from(self.look.paint(Role::Focus, title)))
            .title(Line::from(self.look.paint(Role::Dim, format!(" {close} "))).right_aligned());
        let inside = block.inner(area);
        block.render(area, self.buffer);
        inside
    }

    fn field(&mut self, screen: Rect, title: &str, text: &str) {
        let wide = screen.width.saturating_sub(4).min(80);
        let room = usize::from(wide.saturating_sub(4)).max(1);
        let rows = wrap(&[self.look.paint(Role::Text, text)], room, Break::Anywhere);
        let high = small(rows.len() + 2).min(screen.height);
        let enter = self.look.keymap.key(Situation::Field, Act::Confirm);
        let area = centred(screen, wide, high);
        let inside = self.boxed(area, title, &format!("{enter}: do it   Esc: no"));
        let inside = Rect { x: inside.x + 1, width: inside.width.saturating_sub(1), ..inside };
        let last = rows.last().map_or(0, |r| width_of(r));
        let skip = rows.len().saturating_sub(usize::from(inside.height));
        let y = inside.y + small(rows.len() - skip).saturating_sub(1);
        self.shown.cursor = Some(Position::new(inside.x + small(last), y));
        self.rows(inside, rows.into_iter().skip(skip).map(Line::from));
    }

    fn editor(
        &mut self,
        screen: Rect,
        text: &ratatui_textarea::TextArea<'static>,
        form: EditForm,
        error: Option<&str>,
    ) {
        let wide = screen.width.saturating_sub(4).min(110);
        let room = usize::from(wide.saturating_sub(4)).max(1);
        let cursor = text.cursor();
        let (mut rows, mut at) = (Vec::new(), (0, 0));
        for (number, line) in text.lines().iter().enumerate() {
            if number == cursor.0 {
                let before: String = line.chars().take(cursor.1).collect();
                let head = wrap(&[self.look.paint(Role::Text, before)], room, Break::Anywhere);
                at = (rows.len() + head.len() - 1, head.last().map_or(0, |r| width_of(r)));
            }
            rows.extend(wrap(&[self.look.paint(Role::Text, line)], room, Break::Anywhere));
        }
        let high = small(rows.len() + 3).clamp(5, screen.height.saturating_sub(2).max(5));
        let title = match form {
            EditForm::Command => " Edit the command; it is audited again ",
            EditForm::Json => " Edit the arguments (JSON); the call is audited again ",
        };
        let save = self.look.keymap.key(Situation::Editor, Act::Confirm);
        let area = centred(screen, wide, high).intersection(screen);
        let inside = self.boxed(area, title, &format!("{save}: propose   Esc: leave"));
        let inside = Rect {
            x: inside.x + 1,
            width: inside.width.saturating_sub(1),
            height: inside.height.saturating_sub(1),
            ..inside
        };
        let skip = (at.0 + 1).saturating_sub(usize::from(inside.height));
        self.shown.cursor = Some(Position::new(inside.x + small(at.1), inside.y + small(at.0 - skip)));
        self.rows(inside, rows.into_iter().skip(skip).map(Line::from));
        if let Some(error) = error {
            let line = justify(vec![self.look.paint(Role::Deny, format!("! {error}"))], Vec::new(), room);
            self.line(inside.x, inside.bottom(), &line, inside.width);
        }
    }
}

fn centred(screen: Rect, wide: u16, high: u16) -> Rect {
    let (wide, high) = (wide.min(screen.width), high.min(screen.height));
    Rect::new(screen.x + (screen.width - wide) / 2, screen.y + (screen.height - high) / 2, wide, high)
}
