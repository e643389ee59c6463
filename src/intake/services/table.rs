//! `assets/services.toml`: what it may say, and reading it. Knows no single tool.

use crate::domain::{Kind, Reversibility, Verb};
use serde::{Deserialize, Deserializer, de};
use std::{collections::BTreeMap, sync::LazyLock};

#[derive(Debug, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub(super) struct Services {
    pub attributes: Vec<String>,
    pub recipients: Vec<String>,
    pub operands: Vec<String>,
    tool: Vec<Tool>,
    device: Vec<Device>,
    verbs: BTreeMap<String, Vec<String>>,
    objects: BTreeMap<String, Vec<String>>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Tool {
    names: Vec<String>,
    pub effects: Vec<Spec>,
    /// Arguments as JSON, and all effects that they must have; a test checks them.
    #[serde(default)]
    #[cfg_attr(not(test), expect(dead_code, reason = "a test reads them"))]
    pub examples: BTreeMap<String, Vec<String>>,
}

/// One effect of a tool.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Spec {
    pub does: Deed,
    #[serde(default)]
    pub of: Vec<String>,
    #[serde(default)]
    pub on: Option<String>,
    #[serde(default)]
    pub when: Vec<String>,
    #[serde(default)]
    pub unless: Vec<String>,
    #[serde(default)]
    pub back: Option<Reversibility>,
    #[serde(default)]
    pub many: bool,
}

/// `send mail`.
#[derive(Debug, Clone, Copy)]
pub(super) struct Deed {
    pub verb: Verb,
    pub kind: Kind,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Device {
    domains: Vec<String>,
    #[serde(default)]
    services: Vec<String>,
    back: Reversibility,
}

impl<'de> Deserialize<'de> for Deed {
    fn deserialize<D: Deserializer<'de>>(d: D) -> Result<Self, D::Error> {
        let text = String::deserialize(d)?;
        let parse = || {
            let (verb, kind) = text.split_once(' ')?;
            Some(Deed { verb: Verb::from_word(verb)?, kind: Kind::from_word(kind)? })
        };
        parse().ok_or_else(|| de::Error::custom(format!("`{text}` is no verb and kind")))
    }
}

/// The table that ships with weal. A test reads it; were it broken, every service would be opaque.
pub(super) static SERVICES: LazyLock<Services> = LazyLock::new(|| parse(TEXT).unwrap_or_default());

const TEXT: &str = include_str!("../../../assets/services.toml");

fn parse(text: &str) -> Result<Services, toml::de::Error> {
    toml::from_str(text)
}

impl Services {
    pub fn tool(&self, name: &str) -> Option<&Tool> {
        self.tool.iter().find(|t| t.names.iter().any(|n| n == name))
    }

    /// How far a service call to a device can be taken back, where the table knows.
    pub fn device(&self, domain: &str, service: &str) -> Option<Reversibility> {
        let known = |d: &&Device| {
            let any = d.services.is_empty() || d.services.iter().any(|s| super::is(service, s));
            any && d.domains.iter().any(|name| name == domain)
        };
        self.device.iter().find(known).map(|d| d.back)
    }

    pub fn verb(&self, word: &str) -> Option<Verb> {
        let mut all = self.verbs.iter();
        all.find(|(_, words)| words.iter().any(|w| w == word)).and_then(|(verb, _)| Verb::from_word(verb))
    }

    pub fn object(&self, word: &str) -> Option<Kind> {
        let mut all = self.objects.iter();
        all.find(|(_, words)| words.iter().any(|w| w == word)).and_then(|(kind, _)| Kind::from_word(kind))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_shipped_table_is_read() {
        let table = parse(TEXT).map_err(|e| e.to_string()).expect("readable");
        assert!(table.tool.len() > 15 && table.device.len() > 5);
        for (verb, words) in &table.verbs {
            assert!(Verb::from_word(verb).is_some() && !words.is_empty(), "{verb}");
        }
        for kind in table.objects.keys() {
            assert!(Kind::from_word(kind).is_some(), "{kind}");
        }
    }

    #[test]
    fn examples_hold() {
        for tool in &SERVICES.tool {
            for (args, want) in &tool.examples {
                let args = serde_json::from_str(args).expect("JSON");
                let call = crate::domain::RawCall::new(&tool.names[0], args);
                let got: Vec<_> = super::super::tests::effects(&call).iter().map(ToString::to_string).collect();
                assert_eq!(got, *want, "{call:?}");
            }
        }
    }
}
