//! The one way in which text from anywhere reaches the screen.
//!
//! Nothing that could move the cursor, hide, reorder or stack characters survives; what was there is shown by a
//! visible mark instead. `theme::Theme::paint` calls this for every span that is drawn.

use std::borrow::Cow;

/// Combining marks in a row beyond this many are marked: no script needs more, and a pile of them hides its neighbours.
const STACK: usize = 4;

/// `text` as one line that is safe to draw.
pub fn sanitise(text: &str) -> Cow<'_, str> {
    if text.bytes().all(|b| (0x20..0x7f).contains(&b)) {
        return Cow::Borrowed(text);
    }
    let mut safe = String::with_capacity(text.len() + 8);
    let mut stack = 0;
    for c in text.chars() {
        let zero = unicode_width::UnicodeWidthChar::width(c) == Some(0);
        stack = if zero { stack + 1 } else { 0 };
        match c {
            '\t' => safe.push_str("    "),
            // they only choose between two looks of the character before, and terminals disagree on its width then
            '\u{fe0e}' | '\u{fe0f}' => {}
            '\0'..='\u{1f}' => safe.push(char::from_u32(0x2400 + c as u32).unwrap_or('?')),
            '\u{7f}' => safe.push('␡'),
            c if is_odd_blank(c) => safe.push('␣'),
            c if is_hidden(c) || (zero && (stack > STACK || safe.is_empty())) => mark(&mut safe, c),
            c => safe.push(c),
        }
    }
    Cow::Owned(safe)
}

fn mark(safe: &mut String, c: char) {
    use std::fmt::Write as _;
    let _ = write!(safe, "⟨U+{:04X}⟩", c as u32);
}

/// Looks like a space and is none to a program.
fn is_odd_blank(c: char) -> bool {
    matches!(c, '\u{a0}' | '\u{1680}' | '\u{2000}'..='\u{200a}' | '\u{202f}' | '\u{205f}' | '\u{2800}' | '\u{3000}')
}

/// Controls, directional marks, zero-width and invisible characters, private and unassigned tags.
fn is_hidden(c: char) -> bool {
    c.is_control()
        || matches!(c,
            '\u{ad}' | '\u{34f}' | '\u{61c}' | '\u{115f}' | '\u{1160}' | '\u{17b4}' | '\u{17b5}'
            | '\u{180b}'..='\u{180f}' | '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}'
            | '\u{2060}'..='\u{206f}' | '\u{3164}' | '\u{fe00}'..='\u{fe0d}' | '\u{feff}' | '\u{ffa0}'
            | '\u{fff0}'..='\u{fffb}' | '\u{1bca0}'..='\u{1bca3}' | '\u{1d173}'..='\u{1d17a}'
            | '\u{e0000}'..='\u{e0fff}')
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use unicode_width::UnicodeWidthStr as _;

    #[test]
    fn what_hides_is_shown() {
        for (raw, safe) in [
            ("plain", "plain"),
            ("\u{1b}[31mred", "␛[31mred"),
            ("a\r\u{8}b\u{7f}", "a␍␈b␡"),
            ("\u{9b}31m", "⟨U+009B⟩31m"),
            ("abc\u{202e}gpj.exe", "abc⟨U+202E⟩gpj.exe"),
            ("pay\u{200b}pal", "pay⟨U+200B⟩pal"),
            ("rm\u{a0}-rf", "rm␣-rf"),
            ("a\tb\nc", "a    b␊c"),
            ("e\u{301}", "e\u{301}"),
            ("\u{301}e", "⟨U+0301⟩e"),
            ("❤\u{fe0f}", "❤"),
            ("日本語", "日本語"),
        ] {
            assert_eq!(sanitise(raw), safe, "{raw:?}");
        }
    }

    proptest! {
        #[test]
        fn nothing_hidden_survives(text in "\\PC*|(?s).{0,60}") {
            let safe = sanitise(&text);
            prop_assert!(safe.chars().all(|c| !is_hidden(c) && !is_odd_blank(c)), "{safe:?}");
            let again = sanitise(&safe);
            prop_assert_eq!(&again, &safe);
        }

        #[test]
        fn marks_never_pile_up(n in 0usize..200) {
            let safe = sanitise(&format!("a{}", "\u{301}".repeat(n))).into_owned();
            let left = safe.matches('\u{301}').count();
            prop_assert!(left <= STACK);
            prop_assert!(safe.width() > n.saturating_sub(STACK));
        }
    }
}
