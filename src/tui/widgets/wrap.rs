//! Breaking styled text into rows by display width. Never cuts a character, never drops anything but blanks at a
//! word break.

use ratatui::{
    style::Style,
    text::{Line, Span},
};
use unicode_width::UnicodeWidthStr as _;

/// A run of styled text that will become one or more rows.
pub type Spans = Vec<Span<'static>>;

/// Where a row may break.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Break {
    /// After blanks; a word longer than the row is cut where it must be.
    Words,
    /// Anywhere: code and output keep their blanks.
    Anywhere,
}

struct Glyph<'a> {
    symbol: &'a str,
    style: Style,
    width: usize,
}

impl Glyph<'_> {
    fn is_blank(&self) -> bool {
        self.symbol == " "
    }
}

/// Display width of a run.
pub fn width(spans: &[Span<'_>]) -> usize {
    spans.iter().map(|s| s.content.width()).sum()
}

/// `spans` as rows of at most `width` cells (a single wider character excepted). At least one row.
pub fn wrap(spans: &[Span<'static>], width: usize, how: Break) -> Vec<Spans> {
    let width = width.max(1);
    let glyphs: Vec<Glyph<'_>> = spans
        .iter()
        .flat_map(|span| span.styled_graphemes(Style::default()))
        .map(|g| Glyph { width: g.symbol.width(), symbol: g.symbol, style: g.style })
        .collect();
    let mut rows = Vec::new();
    let (mut start, mut used, mut breakable) = (0, 0, None);
    let mut at = 0;
    while let Some(glyph) = glyphs.get(at) {
        if used + glyph.width > width && at > start {
            if how == Break::Words && glyph.is_blank() {
                // blanks hang over the edge unseen
                at += 1;
                breakable = Some(at);
                continue;
            }
            let cut = breakable.filter(|b| *b > start).unwrap_or(at);
            rows.push(row(&glyphs, start, cut, how));
            start = cut;
            breakable = None;
            used = glyphs.get(start..at).unwrap_or_default().iter().map(|g| g.width).sum();
            continue;
        }
        used += glyph.width;
        at += 1;
        if how == Break::Words && glyph.is_blank() {
            breakable = Some(at);
        }
    }
    rows.push(row(&glyphs, start, glyphs.len(), how));
    rows
}

fn row(glyphs: &[Glyph<'_>], start: usize, end: usize, how: Break) -> Spans {
    let mut part = glyphs.get(start..end).unwrap_or_default();
    if how == Break::Words {
        while let Some((last, rest)) = part.split_last()
            && last.is_blank()
            && !rest.is_empty()
        {
            part = rest;
        }
    }
    let mut spans: Vec<(String, Style)> = Vec::new();
    for glyph in part {
        match spans.last_mut() {
            Some((text, style)) if *style == glyph.style => text.push_str(glyph.symbol),
            _ => spans.push((glyph.symbol.to_owned(), glyph.style)),
        }
    }
    spans.into_iter().map(|(text, style)| Span::styled(text, style)).collect()
}

/// Wraps `body` beside `lead`: the first row begins with `lead`, the others with as many blanks.
pub fn hang(lead: Spans, body: &[Span<'static>], total: usize, how: Break) -> Vec<Line<'static>> {
    let indent = width(&lead);
    let blank = Span::raw(" ".repeat(indent));
    let mut lead = Some(lead);
    wrap(body, total.saturating_sub(indent).max(1), how)
        .into_iter()
        .map(|row| {
            let mut line = lead.take().unwrap_or_else(|| vec![blank.clone()]);
            line.extend(row);
            Line::from(line)
        })
        .collect()
}

/// `spans` cut to `width` cells, with `…` where something was left out.
pub fn truncate(spans: Spans, width: usize) -> Spans {
    if self::width(&spans) <= width {
        return spans;
    }
    let style = spans.last().map(|s| s.style).unwrap_or_default();
    let room = width.saturating_sub(1);
    let mut kept = Vec::new();
    let mut used = 0;
    'cut: for span in &spans {
        let mut text = String::new();
        for glyph in span.styled_graphemes(Style::default()) {
            let w = glyph.symbol.width();
            if used + w > room {
                kept.push(Span::styled(text, span.style));
                break 'cut;
            }
            used += w;
            text.push_str(glyph.symbol);
        }
        kept.push(Span::styled(text, span.style));
    }
    if width > 0 {
        kept.push(Span::styled("…", style));
    }
    kept
}

/// `left` and `right` on one row of `width` cells, `right` at the edge; `left` gives way.
pub fn justify(left: Spans, right: Spans, width: usize) -> Line<'static> {
    let tail = self::width(&right);
    if tail == 0 {
        return Line::from(truncate(left, width));
    }
    let room = width.saturating_sub(tail + 1);
    if room == 0 {
        return Line::from(truncate(right, width));
    }
    let mut line = truncate(left, room);
    let gap = width.saturating_sub(tail + self::width(&line));
    line.push(Span::raw(" ".repeat(gap)));
    line.extend(right);
    Line::from(line)
}

/// Widths for columns that want `wanted` each and have `room` together: what is narrow gets what it wants.
pub fn share(wanted: &[usize], room: usize) -> Vec<usize> {
    let mut given = vec![0; wanted.len()];
    let mut order: Vec<usize> = (0..wanted.len()).collect();
    order.sort_by_key(|i| wanted.get(*i).copied());
    let (mut left, mut columns) = (room, wanted.len());
    for i in order {
        let fair = left / columns.max(1);
        let got = wanted.get(i).copied().unwrap_or(0).min(fair);
        if let Some(slot) = given.get_mut(i) {
            *slot = got;
        }
        left -= got;
        columns -= 1;
    }
    given
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn rows(text: &str, width: usize, how: Break) -> Vec<String> {
        let flat = |row: Spans| row.iter().map(|s| s.content.as_ref()).collect::<String>();
        wrap(&[Span::raw(text.to_owned())], width, how).into_iter().map(flat).collect()
    }

    #[test]
    fn breaks_where_a_reader_would() {
        assert_eq!(rows("one two three", 8, Break::Words), ["one two", "three"]);
        assert_eq!(rows("one two ", 7, Break::Words), ["one two"]);
        assert_eq!(rows("abcdefgh ij", 3, Break::Words), ["abc", "def", "gh", "ij"]);
        assert_eq!(rows("日本語 x", 5, Break::Words), ["日本", "語 x"]);
        assert_eq!(rows("  a b", 3, Break::Anywhere), ["  a", " b"]);
        assert_eq!(rows("", 3, Break::Words), [""]);
        assert_eq!(rows("e\u{301}e\u{301}", 1, Break::Words), ["e\u{301}", "e\u{301}"]);
    }

    proptest! {
        #[test]
        fn rows_fit_and_lose_nothing(text in "[ a-z日\u{301}🦀א]{0,80}", width in 2usize..40) {
            let text = super::super::sanitise::sanitise(&text).into_owned();
            let got = rows(&text, width, Break::Words);
            prop_assert!(got.iter().all(|r| r.width() <= width), "{got:?}");
            let dense = |s: &str| s.replace(' ', "");
            prop_assert_eq!(dense(&got.concat()), dense(&text));
            prop_assert_eq!(rows(&text, width, Break::Anywhere).concat(), text);
        }
    }
}
