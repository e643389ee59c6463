//! Secrets of this process: what stands behind a `[secret:…]` in log, screen and prompt. In memory only; after a
//! restart a pending action that needs one is proposed anew.

use crate::domain::Event;
use crate::intake::secrets::{self, Unredactable};
use std::collections::BTreeMap;

pub struct Vault {
    key: [u8; 32],
    known: BTreeMap<String, String>,
}

impl Vault {
    /// `key` makes the digits of a mark: the same secret has the same mark in this workspace.
    pub const fn new(key: [u8; 32]) -> Self {
        Vault { key, known: BTreeMap::new() }
    }

    /// The event as it may be written down; what was taken out is remembered.
    pub fn redact(&mut self, event: &Event) -> Result<Event, Unredactable> {
        let (event, found) = secrets::redact_event(event, &self.key)?;
        self.known.extend(found.into_iter().map(|f| (f.mark, f.text)));
        Ok(event.into_owned())
    }

    /// A text as it may be written down. The person's words are redacted before anything is found in them, so that
    /// spans fit what the log holds.
    pub fn redact_text(&mut self, text: &str) -> String {
        let (text, found) = secrets::redact(text, &self.key);
        self.known.extend(found.into_iter().map(|f| (f.mark, f.text)));
        text
    }

    /// Mark to secret.
    pub const fn known(&self) -> &BTreeMap<String, String> {
        &self.known
    }
}
