//! The line where the person writes: editing, history, and which characters were pasted.

use crate::domain::Span;
use ratatui_textarea::{CursorMove, TextArea};

/// Remembered texts with their marks, so that undo brings back what was pasted as pasted.
const REMEMBERED: usize = 200;

/// A message being written.
#[derive(Debug, Clone, Default)]
pub struct Composer {
    area: TextArea<'static>,
    /// For each character of the text: was it pasted?
    pasted: Vec<bool>,
    remembered: Vec<(String, Vec<bool>)>,
    history: Vec<String>,
    /// Which of `history` is shown, and the draft that was there before.
    browsing: Option<(usize, String)>,
}

impl Composer {
    pub fn text(&self) -> String {
        self.area.lines().join("\n")
    }

    pub fn lines(&self) -> &[String] {
        self.area.lines()
    }

    pub fn is_empty(&self) -> bool {
        self.area.is_empty()
    }

    /// Row and column, in characters.
    pub fn cursor(&self) -> (usize, usize) {
        let cursor = self.area.cursor();
        (cursor.0, cursor.1)
    }

    pub fn at_first_line(&self) -> bool {
        self.cursor().0 == 0
    }

    pub fn at_last_line(&self) -> bool {
        self.cursor().0 + 1 >= self.lines().len()
    }

    /// Was the character at this place of the whole text pasted?
    pub fn is_pasted(&self, at: usize) -> bool {
        self.pasted.get(at).copied().unwrap_or(false)
    }

    /// Half-open ranges of characters that were pasted.
    pub fn pasted(&self) -> Vec<Span> {
        let mut spans: Vec<Span> = Vec::new();
        for (at, _) in self.pasted.iter().enumerate().filter(|(_, pasted)| **pasted) {
            let at = u32::try_from(at).unwrap_or(u32::MAX);
            match spans.last_mut() {
                Some(span) if span.end == at => span.end = at + 1,
                _ => spans.push(Span { start: at, end: at + 1 }),
            }
        }
        spans
    }

    /// Edits; `change` is what the key did. More than one character at once (a yank) counts as pasted.
    pub fn edit(&mut self, change: impl FnOnce(&mut TextArea<'static>)) {
        self.change(false, change);
        self.browsing = None;
    }

    pub fn paste(&mut self, text: &str) {
        let text = text.replace("\r\n", "\n").replace('\r', "\n");
        self.change(true, |area| {
            area.insert_str(text);
        });
    }

    pub fn newline(&mut self) {
        self.edit(TextArea::insert_newline);
    }

    /// Replaces everything, as if typed.
    pub fn set(&mut self, text: &str) {
        self.area = TextArea::new(text.split('\n').map(str::to_owned).collect());
        self.area.move_cursor(CursorMove::Bottom);
        self.area.move_cursor(CursorMove::End);
        self.pasted = vec![false; text.chars().count()];
    }

    /// Empties it and gives back what was there.
    pub fn take(&mut self) -> (String, Vec<Span>) {
        let taken = (self.text(), self.pasted());
        self.clear();
        if self.history.last() != Some(&taken.0) && !taken.0.trim().is_empty() {
            self.history.push(taken.0.clone());
        }
        taken
    }

    pub fn clear(&mut self) {
        self.set("");
        self.remembered.clear();
        self.browsing = None;
    }

    /// Sent before, in this session or an earlier part of it.
    pub fn remember(&mut self, texts: impl IntoIterator<Item = String>) {
        self.history = texts.into_iter().collect();
    }

    /// One message back in what was sent before. False where there is none.
    pub fn older(&mut self) -> bool {
        let (at, draft) = match &self.browsing {
            Some((at, draft)) => (at.checked_sub(1), draft.clone()),
            None => (self.history.len().checked_sub(1), self.text()),
        };
        let Some((at, text)) = at.and_then(|at| Some((at, self.history.get(at)?.clone()))) else { return false };
        self.set(&text);
        self.browsing = Some((at, draft));
        true
    }

    /// One message on, at last to the draft that was there before.
    pub fn newer(&mut self) -> bool {
        let Some((at, draft)) = self.browsing.clone() else { return false };
        match self.history.get(at + 1).cloned() {
            Some(text) => {
                self.set(&text);
                self.browsing = Some((at + 1, draft));
            }
            None => {
                self.set(&draft);
                self.browsing = None;
            }
        }
        true
    }

    fn change(&mut self, pasted: bool, change: impl FnOnce(&mut TextArea<'static>)) {
        let before = self.text();
        let marks = std::mem::take(&mut self.pasted);
        self.remembered.push((before.clone(), marks.clone()));
        if self.remembered.len() > REMEMBERED {
            self.remembered.remove(0);
        }
        change(&mut self.area);
        let after = self.text();
        let known = self.remembered.iter().rev().find(|(text, _)| *text == after && !pasted);
        self.pasted = known.map(|(_, marks)| marks.clone()).unwrap_or_else(|| carry(&before, &marks, &after, pasted));
    }
}

/// The marks of `after`: what it shares with `before` keeps its marks, what came in between is new.
fn carry(before: &str, marks: &[bool], after: &str, pasted: bool) -> Vec<bool> {
    let (old, new): (Vec<char>, Vec<char>) = (before.chars().collect(), after.chars().collect());
    let head = old.iter().zip(&new).take_while(|(a, b)| a == b).count();
    let room = old.len().min(new.len()) - head;
    let tail = old.iter().rev().zip(new.iter().rev()).take(room).take_while(|(a, b)| a == b).count();
    let come = new.len() - head - tail;
    let mut carried = marks.get(..head).unwrap_or_default().to_vec();
    carried.extend(std::iter::repeat_n(pasted || come > 1, come));
    carried.extend_from_slice(marks.get(old.len() - tail..).unwrap_or_default());
    carried
}

#[cfg(test)]
mod tests {
    use super::*;

    fn typed(composer: &mut Composer, text: &str) {
        text.chars().for_each(|c| composer.edit(|area| area.insert_char(c)));
    }

    fn spans(composer: &Composer) -> Vec<(u32, u32)> {
        composer.pasted().iter().map(|s| (s.start, s.end)).collect()
    }

    #[test]
    fn pasted_text_stays_pasted_through_edits() {
        let mut composer = Composer::default();
        typed(&mut composer, "see: ");
        composer.paste("never\r\nmind");
        typed(&mut composer, " ok");
        assert_eq!(composer.text(), "see: never\nmind ok");
        assert_eq!(spans(&composer), [(5, 15)]);
        composer.edit(|area| area.move_cursor(CursorMove::Top));
        composer.edit(|area| area.move_cursor(CursorMove::Head));
        typed(&mut composer, "日");
        assert_eq!(spans(&composer), [(6, 16)]);
        composer.edit(|area| area.move_cursor(CursorMove::End));
        typed(&mut composer, "x");
        assert_eq!(spans(&composer), [(6, 11), (12, 17)]);
    }

    #[test]
    fn undo_and_yank_never_launder_a_paste() {
        let mut composer = Composer::default();
        typed(&mut composer, "a ");
        composer.paste("never delete b");
        composer.edit(|area| {
            area.delete_line_by_head();
        });
        assert_eq!(composer.text(), "");
        composer.edit(|area| {
            area.undo();
        });
        assert_eq!(spans(&composer), [(2, 16)]);
        composer.edit(|area| {
            area.delete_line_by_head();
        });
        typed(&mut composer, "z");
        composer.edit(|area| {
            area.paste();
        });
        assert_eq!(spans(&composer), [(1, 17)], "what was killed comes back as a paste");
    }

    #[test]
    fn history_goes_back_and_forth_and_keeps_the_draft() {
        let mut composer = Composer::default();
        for text in ["one", "two", "two"] {
            typed(&mut composer, text);
            composer.take();
        }
        typed(&mut composer, "dra");
        assert!(composer.older() && composer.older() && !composer.older());
        assert_eq!(composer.text(), "one");
        assert!(composer.newer() && composer.newer() && !composer.newer());
        assert_eq!(composer.text(), "dra");
    }
}
