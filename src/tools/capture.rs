//! Output as it comes in: its two ends for the outcome, the whole of it (up to a larger cap) for the blob table.

use crate::domain::{Digest, OutputText};
use std::collections::VecDeque;

/// Of a whole output that is kept.
const BODY_CAP: usize = 8 * 1024 * 1024;

#[derive(Debug)]
pub(super) struct Capture {
    cap: usize,
    /// The first bytes.
    body: Vec<u8>,
    /// The last bytes.
    tail: VecDeque<u8>,
    total: u64,
}

impl Capture {
    /// `cap`: bytes the outcome may hold.
    pub(super) fn new(cap: usize) -> Self {
        Capture { cap: cap.min(BODY_CAP), body: Vec::new(), tail: VecDeque::new(), total: 0 }
    }

    pub(super) fn push(&mut self, bytes: &[u8]) {
        self.total += bytes.len() as u64;
        let room = BODY_CAP.saturating_sub(self.body.len()).min(bytes.len());
        self.body.extend(bytes.iter().take(room));
        self.tail.extend(bytes.iter().skip(bytes.len().saturating_sub(self.cap / 2)));
        let over = self.tail.len().saturating_sub(self.cap / 2);
        self.tail.drain(..over);
    }

    /// Whether the last bytes hold this text.
    pub(super) fn says(&self, text: &str) -> bool {
        let (a, b) = self.tail.as_slices();
        let whole = [a, b].concat();
        whole.windows(text.len()).any(|w| w == text.as_bytes())
    }

    /// What the outcome holds, and the body where that is not everything.
    pub(super) fn finish(mut self) -> (OutputText, Option<Vec<u8>>) {
        if self.total <= self.cap as u64 {
            let head = String::from_utf8_lossy(&self.body).into_owned();
            let digest = Digest::of(&self.body);
            return (OutputText { head, tail: String::new(), bytes: self.total, digest }, None);
        }
        let head = text(self.body.get(..self.cap / 2).unwrap_or_default());
        let last: Vec<u8> = self.tail.into();
        let tail = text(&last);
        let missing = self.total.saturating_sub((self.body.len() + last.len()) as u64);
        if missing > 0 {
            self.body.extend(format!("\n… {missing} bytes left out …\n").as_bytes());
            self.body.extend(&last);
        } else if self.total > self.body.len() as u64 {
            let fresh = (self.total - self.body.len() as u64) as usize;
            self.body.extend(last.get(last.len().saturating_sub(fresh)..).unwrap_or_default());
        }
        let digest = Digest::of(&self.body);
        (OutputText { head, tail, bytes: self.total, digest }, Some(self.body))
    }
}

/// As text, without the halves of characters that a cut left at the ends.
fn text(bytes: &[u8]) -> String {
    let start = bytes.iter().take(3).take_while(|b| **b & 0b1100_0000 == 0b1000_0000).count();
    let bytes = bytes.get(start..).unwrap_or_default();
    let end = match std::str::from_utf8(bytes) {
        Err(e) if e.error_len().is_none() => e.valid_up_to(),
        Ok(_) | Err(_) => bytes.len(),
    };
    String::from_utf8_lossy(bytes.get(..end).unwrap_or_default()).into_owned()
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn captured(cap: usize, chunks: &[Vec<u8>]) -> (OutputText, Option<Vec<u8>>) {
        let mut capture = Capture::new(cap);
        chunks.iter().for_each(|c| capture.push(c));
        capture.finish()
    }

    proptest! {
        #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]
        #[test]
        fn however_it_arrives_the_ends_and_the_body_are_the_same(
            chunks in proptest::collection::vec(proptest::collection::vec(b'a'..=b'z', 0..40), 0..20),
            cap in 2usize..100,
        ) {
            let whole = chunks.concat();
            let (output, body) = captured(cap, &chunks);
            prop_assert_eq!(output.bytes, whole.len() as u64);
            prop_assert_eq!(output.digest, Digest::of(&whole));
            if whole.len() <= cap {
                prop_assert_eq!(output.head.as_bytes(), &whole[..]);
                prop_assert!(output.tail.is_empty() && body.is_none());
            } else {
                prop_assert!(whole.starts_with(output.head.as_bytes()) && whole.ends_with(output.tail.as_bytes()));
                prop_assert_eq!(output.head.len() + output.tail.len(), cap / 2 * 2);
                prop_assert_eq!(body, Some(whole));
            }
        }
    }

    #[test]
    fn cuts_fall_between_characters_and_an_endless_output_is_cut_in_its_middle() {
        let (output, _) = captured(9, &["ääääääää".as_bytes().to_vec()]);
        assert_eq!((output.head.as_str(), output.tail.as_str()), ("ää", "ää"));
        let (output, body) = captured(10, &[vec![b'x'; BODY_CAP + 100], b"end".to_vec()]);
        let body = body.unwrap();
        assert!(body.ends_with(b"xxend") && body.len() < BODY_CAP + 100);
        assert_eq!(output.digest, Digest::of(&body));
        assert_eq!(output.bytes, BODY_CAP as u64 + 103);
    }
}
