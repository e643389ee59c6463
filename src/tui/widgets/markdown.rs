//! Markdown as a model writes it, to rows. Raw HTML and links are shown as text; nothing is ever fetched or hidden.

use super::{
    code, diff,
    wrap::{Break, Spans, hang, width as width_of, wrap},
};
use crate::tui::theme::{Role, Theme};
use pulldown_cmark::{CodeBlockKind, Event, Options, Parser, Tag, TagEnd};
use ratatui::{
    style::Style,
    text::{Line, Span},
};

/// Rows of at most `width` cells. `colour` off leaves code plain (for text that is still coming in).
pub fn render(theme: &Theme, text: &str, width: usize, colour: bool) -> Vec<Line<'static>> {
    let options = Options::ENABLE_TABLES | Options::ENABLE_STRIKETHROUGH | Options::ENABLE_TASKLISTS;
    let mut page = Page {
        theme,
        width: width.max(1),
        colour,
        rows: Vec::new(),
        run: Vec::new(),
        styles: Vec::new(),
        lists: Vec::new(),
        marker: None,
        quotes: 0,
        code: None,
        link: None,
        table: None,
        loose: false,
    };
    Parser::new_ext(text, options).for_each(|event| page.take(event));
    page.flush();
    page.rows
}

struct Page<'a> {
    theme: &'a Theme,
    width: usize,
    colour: bool,
    rows: Vec<Line<'static>>,
    /// The text run that is being collected.
    run: Spans,
    styles: Vec<Role>,
    /// Open lists: the next number, or `None` for bullets.
    lists: Vec<Option<u64>>,
    marker: Option<String>,
    quotes: usize,
    code: Option<(String, String)>,
    link: Option<String>,
    table: Option<Vec<Vec<Spans>>>,
    /// A blank row is due before the next block.
    loose: bool,
}

impl Page<'_> {
    fn take(&mut self, event: Event<'_>) {
        match event {
            Event::Start(tag) => self.start(tag),
            Event::End(tag) => self.end(tag),
            Event::Text(text) => match &mut self.code {
                Some((_, code)) => code.push_str(&text),
                None => self.text(&text),
            },
            Event::Code(text) => self.span(Role::Code, &text),
            Event::Html(text) | Event::InlineHtml(text) => {
                for (i, line) in text.trim_end().split('\n').enumerate() {
                    if i > 0 {
                        self.flush();
                    }
                    self.span(Role::Dim, line);
                }
            }
            Event::InlineMath(text) | Event::DisplayMath(text) => self.span(Role::Code, &text),
            Event::FootnoteReference(text) => self.span(Role::Link, &format!("[{text}]")),
            Event::SoftBreak => self.text(" "),
            Event::HardBreak => self.flush(),
            Event::Rule => {
                self.block();
                let rule = "─".repeat(self.room().min(40));
                self.emit(vec![self.theme.paint(Role::Border, rule)]);
                self.loose = true;
            }
            Event::TaskListMarker(done) => self.text(if done { "[x] " } else { "[ ] " }),
        }
    }

    fn start(&mut self, tag: Tag<'_>) {
        match tag {
            Tag::Paragraph => self.block(),
            Tag::Heading { level, .. } => {
                self.block();
                self.styles.push(Role::Heading);
                self.span(Role::Dim, &format!("{} ", "#".repeat(level as usize)));
            }
            Tag::BlockQuote(_) => {
                self.block();
                self.quotes += 1;
            }
            Tag::CodeBlock(kind) => {
                self.block();
                let language = match kind {
                    CodeBlockKind::Fenced(language) => language.into_string(),
                    CodeBlockKind::Indented => String::new(),
                };
                self.code = Some((language, String::new()));
            }
            Tag::List(first) => {
                if self.lists.is_empty() {
                    self.block();
                } else {
                    self.flush();
                }
                self.lists.push(first);
            }
            Tag::Item => {
                self.flush();
                self.loose = false;
                self.marker = Some(match self.lists.last_mut() {
                    Some(Some(number)) => {
                        *number += 1;
                        format!("{}. ", *number - 1)
                    }
                    Some(None) | None => "• ".to_owned(),
                });
            }
            Tag::Emphasis => self.styles.push(Role::Emphasis),
            Tag::Strong => self.styles.push(Role::Strong),
            Tag::Strikethrough => self.styles.push(Role::Dim),
            Tag::Link { dest_url, .. } | Tag::Image { dest_url, .. } => {
                self.styles.push(Role::Link);
                self.link = Some(dest_url.into_string());
            }
            Tag::Table(_) => {
                self.block();
                self.table = Some(Vec::new());
            }
            Tag::TableHead => {
                self.styles.push(Role::Strong);
                self.table_row();
            }
            Tag::TableRow => self.table_row(),
            Tag::TableCell | Tag::HtmlBlock | Tag::FootnoteDefinition(_) | Tag::MetadataBlock(_) => {}
            Tag::DefinitionList | Tag::DefinitionListTitle | Tag::DefinitionListDefinition => {}
            Tag::Superscript | Tag::Subscript => {}
        }
    }

    fn end(&mut self, tag: TagEnd) {
        match tag {
            TagEnd::Paragraph | TagEnd::HtmlBlock => self.end_block(),
            TagEnd::Heading(_) => {
                self.styles.pop();
                self.end_block();
            }
            TagEnd::BlockQuote(_) => {
                self.flush();
                self.quotes = self.quotes.saturating_sub(1);
                self.loose = true;
            }
            TagEnd::CodeBlock => self.end_code(),
            TagEnd::List(_) => {
                self.flush();
                self.lists.pop();
                self.loose = self.lists.is_empty();
            }
            TagEnd::Item => {
                self.flush();
                self.marker = None;
            }
            TagEnd::Emphasis | TagEnd::Strong | TagEnd::Strikethrough => {
                self.styles.pop();
            }
            TagEnd::Link | TagEnd::Image => {
                self.styles.pop();
                self.end_link();
            }
            TagEnd::TableHead => {
                self.styles.pop();
            }
            TagEnd::TableCell => self.table_cell(),
            TagEnd::Table => self.end_table(),
            TagEnd::TableRow | TagEnd::FootnoteDefinition | TagEnd::MetadataBlock(_) => {}
            TagEnd::DefinitionList | TagEnd::DefinitionListTitle | TagEnd::DefinitionListDefinition => {}
            TagEnd::Superscript | TagEnd::Subscript => {}
        }
    }

    fn text(&mut self, text: &str) {
        let role = self.styles.last().copied().unwrap_or(Role::Text);
        self.span(role, text);
    }

    /// Nested emphasis adds up: the looks of what lies around are kept underneath.
    fn span(&mut self, role: Role, text: &str) {
        let around = self.styles.iter().fold(Style::default(), |s, r| s.patch(self.theme.style(*r)));
        let mut span = self.theme.paint(role, text);
        span.style = around.patch(span.style);
        self.run.push(span);
    }

    /// The address stands after the words unless it is the words: a link must not hide where it leads.
    fn end_link(&mut self) {
        let Some(address) = self.link.take() else { return };
        let said: String = self.run.iter().map(|s| s.content.as_ref()).collect();
        if !address.is_empty() && !said.ends_with(&address) {
            self.span(Role::Dim, &format!(" <{address}>"));
        }
    }

    fn block(&mut self) {
        self.flush();
        if std::mem::take(&mut self.loose) && !self.rows.is_empty() && self.marker.is_none() {
            let bars = self.bars();
            self.rows.push(Line::from(bars));
        }
    }

    fn end_block(&mut self) {
        self.flush();
        self.loose = self.lists.is_empty();
    }

    fn bars(&self) -> Spans {
        (0..self.quotes).map(|_| self.theme.paint(Role::Border, "▌ ")).collect()
    }

    /// What stands before the first row of a block: quote bars, list indentation, the item's sign.
    fn lead(&mut self) -> Spans {
        let mut lead = self.bars();
        let depth = self.lists.len();
        if let Some(marker) = self.marker.take() {
            lead.push(Span::raw("  ".repeat(depth.saturating_sub(1))));
            lead.push(self.theme.paint(Role::Dim, marker));
        } else if depth > 0 {
            lead.push(Span::raw("  ".repeat(depth)));
        }
        lead
    }

    fn room(&self) -> usize {
        self.width.saturating_sub(2 * (self.quotes + self.lists.len())).max(1)
    }

    fn emit(&mut self, run: Spans) {
        let lead = self.lead();
        if self.quotes == 0 {
            self.rows.extend(hang(lead, &run, self.width, Break::Words));
            return;
        }
        let bars = self.bars();
        let indent = width_of(&lead);
        for (i, row) in wrap(&run, self.width.saturating_sub(indent).max(1), Break::Words).into_iter().enumerate() {
            let pad = " ".repeat(indent.saturating_sub(width_of(&bars)));
            let mut line = if i == 0 { lead.clone() } else { [bars.clone(), vec![Span::raw(pad)]].concat() };
            line.extend(row);
            self.rows.push(Line::from(line));
        }
    }

    fn flush(&mut self) {
        if self.table.is_none() && !self.run.is_empty() {
            let run = std::mem::take(&mut self.run);
            self.emit(run);
        }
    }

    fn end_code(&mut self) {
        let Some((language, code)) = self.code.take() else { return };
        let lead = self.lead();
        let room = self.width.saturating_sub(width_of(&lead)).max(1);
        let rows = if language == "diff" || (language.is_empty() && diff::is_diff(&code)) {
            diff::render(self.theme, &code, room)
        } else {
            code::render(self.theme, &code, &language, room, self.colour)
        };
        for row in rows {
            let mut line = lead.clone();
            line.extend(row.spans);
            self.rows.push(Line::from(line));
        }
        self.loose = true;
    }

    fn table_row(&mut self) {
        if let Some(table) = &mut self.table {
            table.push(Vec::new());
        }
    }

    fn table_cell(&mut self) {
        let cell = std::mem::take(&mut self.run);
        if let Some(row) = self.table.as_mut().and_then(|t| t.last_mut()) {
            row.push(cell);
        }
    }

    fn end_table(&mut self) {
        let Some(table) = self.table.take() else { return };
        let columns = table.iter().map(Vec::len).max().unwrap_or(0);
        let widest = |c: usize| table.iter().filter_map(|r| r.get(c)).map(|cell| width_of(cell)).max().unwrap_or(0);
        let wanted: Vec<usize> = (0..columns).map(widest).collect();
        let room = self.room().saturating_sub(3 * columns.saturating_sub(1));
        let widths = super::wrap::share(&wanted, room);
        for (i, row) in table.iter().enumerate() {
            let cells: Vec<Vec<Spans>> = widths
                .iter()
                .enumerate()
                .map(|(c, w)| wrap(row.get(c).map(Vec::as_slice).unwrap_or_default(), (*w).max(1), Break::Words))
                .collect();
            let tall = cells.iter().map(Vec::len).max().unwrap_or(0);
            for at in 0..tall {
                let mut line = self.bars();
                for (c, (cell, w)) in cells.iter().zip(&widths).enumerate() {
                    if c > 0 {
                        line.push(self.theme.paint(Role::Border, " │ "));
                    }
                    let part = cell.get(at).cloned().unwrap_or_default();
                    let pad = w.saturating_sub(width_of(&part));
                    line.extend(part);
                    line.push(Span::raw(" ".repeat(pad)));
                }
                self.rows.push(Line::from(super::wrap::truncate(line, self.width)));
            }
            if i == 0 {
                let rule = widths.iter().map(|w| "─".repeat(*w)).collect::<Vec<_>>().join("─┼─");
                let line = [self.bars(), vec![self.theme.paint(Role::Border, rule)]].concat();
                self.rows.push(Line::from(super::wrap::truncate(line, self.width)));
            }
        }
        self.loose = true;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn rows(text: &str, width: usize) -> Vec<String> {
        let theme = Theme::built_in("dark").unwrap();
        render(&theme, text, width, true).iter().map(|l| l.to_string().trim_end().to_owned()).collect()
    }

    #[test]
    fn blocks_look_like_what_they_are() {
        let text = "# Title\n\nSome *soft* and **loud** words.\n\n- one\n- two words that wrap\n  - deep\n\n> quoted\n> more\n\n\
                    1. a\n2. b\n\n```rust\nlet x = 1;\n```\n\n| a | bb |\n|---|---|\n| 1 | 2 |\n\n[here](http://x.y)";
        assert_eq!(
            rows(text, 24),
            [
                "# Title",
                "",
                "Some soft and loud",
                "words.",
                "",
                "• one",
                "• two words that wrap",
                "  • deep",
                "",
                "▌ quoted more",
                "",
                "1. a",
                "2. b",
                "",
                "▎ let x = 1;",
                "",
                "a │ bb",
                "──┼───",
                "1 │ 2",
                "",
                "here <http://x.y>",
            ]
        );
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(64))]
        #[test]
        fn rows_fit_whatever_is_written(text in "[-#>*`|\\[\\]()~ \n1-3a-c日\u{301}]{0,120}", width in 12usize..60) {
            let theme = Theme::built_in("dark").unwrap();
            for row in render(&theme, &text, width, false) {
                // deep nesting may leave less than a wide character's room
                prop_assert!(width_of(&row.spans) <= width.max(2 * text.matches(['>', '-', '*', '1', '2', '3']).count() + 4));
            }
        }
    }
}
