//! Where everything goes at a given size, and what a frame says about itself afterwards.

use super::ui_state::{Focus, Pane};
use crate::domain::RuleId;
use ratatui::layout::{Position, Rect};

/// Below this there is no room for sense.
pub const LEAST: (u16, u16) = (40, 10);
/// From this width on panes stand beside the transcript.
pub const TWO_COLUMNS: u16 = 100;
/// From this width on they stand in two columns of their own.
pub const THREE_COLUMNS: u16 = 140;

/// On a screen lower than this the dock folds while a pane is looked at.
pub const SHORT: u16 = 30;

/// What a click there means.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Target {
    Pane(Pane),
    /// An item of the timeline.
    Item(usize),
    Dock,
    Composer,
    StartRow(usize),
    Rule(RuleId),
    RuleDetail,
    Overlay,
}

/// What a frame showed, and where.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Shown {
    /// Later ones lie over earlier ones.
    pub hits: Vec<(Rect, Target)>,
    /// The transcript's rows.
    pub transcript: Rect,
    /// The last row of the question was on the screen.
    pub dock_end: bool,
    /// The furthest that each part can be scrolled, and how many rows it shows.
    pub dock_most: usize,
    pub dock_rows: usize,
    pub pane_most: Vec<(Pane, usize)>,
    pub overlay_most: usize,
    pub rules_most: usize,
    /// Where the terminal's cursor belongs.
    pub cursor: Option<Position>,
}

impl Shown {
    pub fn at(&self, column: u16, row: u16) -> Option<Target> {
        let here = Position::new(column, row);
        self.hits.iter().rev().find(|(area, _)| area.contains(here)).map(|(_, target)| *target)
    }

    pub fn most(&self, pane: Pane) -> usize {
        self.pane_most.iter().find(|(p, _)| *p == pane).map_or(0, |(_, most)| *most)
    }
}

/// Where the parts go.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Areas {
    pub header: Rect,
    /// One row of tabs, where panes have no room of their own.
    pub tabs: Rect,
    pub transcript: Rect,
    /// Columns of panes, each with the panes in it.
    pub columns: Vec<(Rect, Vec<Pane>)>,
    pub dock: Rect,
    pub composer: Rect,
    pub hints: Rect,
}

/// Divides the screen. `dock` and `composer` are the rows they would like to have.
pub fn divide(screen: Rect, dock: u16, composer: u16, focus: Focus) -> Areas {
    let (header, rest) = top(screen, 1);
    let (rest, hints) = bottom(rest, 1);
    // a rule above the composer
    let (rest, composer) = bottom(rest, (composer + 1).min(rest.height / 3).max(2));
    let (body, dock) = bottom(rest, dock.min(rest.height / 2 + 1));
    let mut areas = Areas { header, hints, composer, dock, ..Areas::default() };
    if screen.width >= THREE_COLUMNS {
        let side = (screen.width * 27 / 100).clamp(44, 64);
        let (left, second) = right(body, side);
        let (left, first) = right(left, side);
        areas.transcript = left;
        areas.columns = vec![
            (first, vec![Pane::InForce, Pane::Restored]),
            (second, vec![Pane::Audit, Pane::Repairs, Pane::Latch]),
        ];
    } else if screen.width >= TWO_COLUMNS {
        let (left, side) = right(body, (screen.width * 42 / 100).clamp(40, 58));
        areas.transcript = left;
        areas.columns = vec![(side, Pane::SIDE.to_vec())];
    } else {
        let (tabs, left) = top(body, 1);
        areas.tabs = tabs;
        areas.transcript = left;
        if let Focus::Pane(pane) = focus
            && pane != Pane::Transcript
        {
            let (left, below) = bottom(left, left.height * 3 / 5);
            areas.transcript = left;
            areas.columns = vec![(below, vec![pane])];
        }
    }
    areas
}

fn top(area: Rect, rows: u16) -> (Rect, Rect) {
    let rows = rows.min(area.height);
    (Rect { height: rows, ..area }, Rect { y: area.y + rows, height: area.height - rows, ..area })
}

fn bottom(area: Rect, rows: u16) -> (Rect, Rect) {
    let rows = rows.min(area.height);
    top(area, area.height - rows)
}

fn right(area: Rect, columns: u16) -> (Rect, Rect) {
    let columns = columns.min(area.width);
    let left = area.width - columns;
    (Rect { width: left, ..area }, Rect { x: area.x + left, width: columns, ..area })
}

/// Rows for panes that stand over each other and want `wanted` rows each (title included); what is left over
/// goes to the last.
pub fn stack(area: Rect, wanted: &[usize]) -> Vec<Rect> {
    let mut rows = super::widgets::wrap::share(wanted, usize::from(area.height));
    let left = usize::from(area.height).saturating_sub(rows.iter().sum());
    if let Some(last) = rows.last_mut() {
        *last += left;
    }
    let mut y = area.y;
    rows.into_iter()
        .map(|rows| {
            let height = u16::try_from(rows).unwrap_or(u16::MAX);
            let rect = Rect { y, height, ..area };
            y += height;
            rect
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn parts_never_overlap_and_never_leave_the_screen(
            w in 1u16..250, h in 1u16..80, dock in 0u16..60, composer in 1u16..20, in_pane: bool
        ) {
            let focus = if in_pane { Focus::Pane(Pane::Audit) } else { Focus::Composer };
            let screen = Rect::new(0, 0, w, h);
            let areas = divide(screen, dock, composer, focus);
            let mut all = vec![areas.header, areas.tabs, areas.transcript, areas.dock, areas.composer, areas.hints];
            all.extend(areas.columns.iter().map(|(r, _)| *r));
            for (i, a) in all.iter().enumerate() {
                prop_assert!(a.is_empty() || screen.union(*a) == screen);
                prop_assert!(all.iter().skip(i + 1).all(|b| !a.intersects(*b)));
            }
            prop_assert_eq!(all.iter().map(|r| u32::from(r.width) * u32::from(r.height)).sum::<u32>(), u32::from(w) * u32::from(h));
        }
    }
}
