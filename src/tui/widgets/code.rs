//! Code in colour: syntect reads it, the theme's roles colour it. Loading the grammars costs more than a frame, so
//! code is drawn plain until somebody has called [`load_grammars`], away from the screen.

use super::wrap::{Break, Spans, wrap};
use crate::tui::theme::{Role, Theme};
use ratatui::text::Line;
use std::sync::LazyLock;
use syntect::parsing::{ParseState, Scope, ScopeStack, SyntaxSet};

static SYNTAXES: LazyLock<SyntaxSet> = LazyLock::new(SyntaxSet::load_defaults_newlines);

/// Loads the grammars and what the most common languages need of them.
pub fn load_grammars(theme: &Theme) {
    for language in ["rust", "sh", "python", "json", "js", "toml", "yaml"] {
        let _ = coloured(theme, "let x = \"a\"; # 1\n", language);
    }
}

/// Code longer than this is shown plain: colouring it would cost a frame.
const LONGEST: usize = 20_000;

/// Scope prefixes and their roles, the more particular first.
static ROLES: LazyLock<Vec<(Scope, Role)>> = LazyLock::new(|| {
    [
        ("comment", Role::Comment),
        ("string", Role::Literal),
        ("constant.numeric", Role::Number),
        ("constant", Role::Number),
        ("keyword.operator", Role::Text),
        ("keyword", Role::Keyword),
        ("storage.type", Role::Type),
        ("storage", Role::Keyword),
        ("entity.name.function", Role::Name),
        ("support.function", Role::Name),
        ("variable.function", Role::Name),
        ("entity.name", Role::Type),
        ("entity.other", Role::Type),
        ("support", Role::Type),
        ("markup.inserted", Role::Added),
        ("markup.deleted", Role::Removed),
    ]
    .into_iter()
    .filter_map(|(name, role)| Some((Scope::new(name).ok()?, role)))
    .collect()
});

/// `code` in rows of at most `width` cells, each behind a bar. `language` is what follows the fence.
pub fn render(theme: &Theme, code: &str, language: &str, width: usize, colour: bool) -> Vec<Line<'static>> {
    let bar = || theme.paint(Role::Border, "▎ ");
    let lines = if colour && code.len() <= LONGEST { coloured(theme, code, language) } else { None };
    let plain = || code.lines().map(|line| vec![theme.paint(Role::Code, line)]).collect();
    let rows = lines
        .unwrap_or_else(plain)
        .into_iter()
        .flat_map(|line| wrap(&line, width.saturating_sub(2).max(1), Break::Anywhere));
    rows.map(|row| Line::from([vec![bar()], row].concat())).collect()
}

fn coloured(theme: &Theme, code: &str, language: &str) -> Option<Vec<Spans>> {
    let word = language.split(|c: char| c.is_whitespace() || c == ',').next().filter(|w| !w.is_empty())?;
    let syntax = SYNTAXES.find_syntax_by_token(word)?;
    let mut parser = ParseState::new(syntax);
    let mut stack = ScopeStack::new();
    let mut lines = Vec::new();
    for line in code.split_inclusive('\n') {
        let mut spans = Vec::new();
        let mut at = 0;
        for (end, op) in parser.parse_line(line, &SYNTAXES).ok()? {
            push(theme, &mut spans, line.get(at..end), &stack);
            at = end;
            stack.apply(&op).ok()?;
        }
        push(theme, &mut spans, line.get(at..), &stack);
        lines.push(spans);
    }
    Some(lines)
}

fn push(theme: &Theme, spans: &mut Spans, text: Option<&str>, stack: &ScopeStack) {
    let text = text.unwrap_or_default().trim_end_matches(['\n', '\r']);
    if text.is_empty() {
        return;
    }
    let of = |scope: &Scope| ROLES.iter().find(|(prefix, _)| prefix.is_prefix_of(*scope)).map(|(_, role)| *role);
    let role = stack.as_slice().iter().rev().find_map(of).unwrap_or(Role::Text);
    spans.push(theme.paint(role, text));
}
