//! Identifiers, positions, digests and moments. All are `Copy` where they can be, and print the way the
//! screen, the log and the rule language write them (`§2`, `c4`, `s1`, `g3`, `p12`).

use serde::{Deserialize, Deserializer, Serialize, Serializer, de};
use sha2::Digest as _;
use std::{fmt, str::FromStr};

/// A user turn; the first is 1. Everything that happens until the next user turn belongs to it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Turn(pub u32);

impl fmt::Display for Turn {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

/// Half-open range in Unicode scalar values (`char`s) of one turn's text.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default, Serialize, Deserialize)]
pub struct Span {
    pub start: u32,
    pub end: u32,
}

impl Span {
    /// The text under this span, or `None` where the span does not lie in `text`.
    pub fn of(self, text: &str) -> Option<&str> {
        let byte = |n: u32| {
            let mut at = text.char_indices().map(|(i, _)| i).chain([text.len()]);
            at.nth(n as usize)
        };
        text.get(byte(self.start)?..byte(self.end)?)
    }
}

/// Where a rule comes from: the read-only core schema, something the person said, a verified failure.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Origin {
    Core,
    Said,
    Scar,
}

impl Origin {
    pub const fn sign(self) -> char {
        match self {
            Origin::Core => 'c',
            Origin::Said => '§',
            Origin::Scar => 's',
        }
    }

    pub const fn word(self) -> &'static str {
        match self {
            Origin::Core => "core",
            Origin::Said => "said",
            Origin::Scar => "scar",
        }
    }
}

/// A rule's name wherever it is shown or written: `c4`, `§2`, `s1`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct RuleId {
    pub origin: Origin,
    pub number: u32,
}

impl RuleId {
    pub const fn core(number: u32) -> Self {
        RuleId { origin: Origin::Core, number }
    }
    pub const fn said(number: u32) -> Self {
        RuleId { origin: Origin::Said, number }
    }
    pub const fn scar(number: u32) -> Self {
        RuleId { origin: Origin::Scar, number }
    }
}

impl fmt::Display for RuleId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}{}", self.origin.sign(), self.number)
    }
}

/// The text is not one of `c4`, `§2`, `s1` (or, where a keyboard has no `§`, `u2`).
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("`{0}` is no rule id (try `c4`, `§2` or `s1`)")]
pub struct BadId(pub String);

impl FromStr for RuleId {
    type Err = BadId;
    fn from_str(text: &str) -> Result<Self, BadId> {
        let bad = || BadId(text.to_owned());
        let sign = text.chars().next().ok_or_else(bad)?;
        let origin = match sign {
            'c' => Origin::Core,
            '§' | 'u' => Origin::Said,
            's' => Origin::Scar,
            _ => return Err(bad()),
        };
        let digits = text.get(sign.len_utf8()..).unwrap_or_default();
        let plain = !digits.is_empty() && digits.bytes().all(|b| b.is_ascii_digit());
        let number = if plain { digits.parse().ok() } else { None };
        Ok(RuleId { origin, number: number.ok_or_else(bad)? })
    }
}

/// A grant's name: `g3`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct GrantId(pub u32);

impl fmt::Display for GrantId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "g{}", self.0)
    }
}

impl FromStr for GrantId {
    type Err = BadId;
    fn from_str(text: &str) -> Result<Self, BadId> {
        let number = text.strip_prefix('g').and_then(|n| n.parse().ok());
        number.map(GrantId).ok_or_else(|| BadId(text.to_owned()))
    }
}

/// A proposal's name within its session: `p12`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ProposalId(pub u32);

impl fmt::Display for ProposalId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "p{}", self.0)
    }
}

impl FromStr for ProposalId {
    type Err = BadId;
    fn from_str(text: &str) -> Result<Self, BadId> {
        let number = text.strip_prefix('p').and_then(|n| n.parse().ok());
        number.map(ProposalId).ok_or_else(|| BadId(text.to_owned()))
    }
}

/// A session's name: a UUID v7, so that names sort by age.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct SessionId(pub String);

impl SessionId {
    /// The last eight characters: enough to tell sessions apart on a screen.
    pub fn short(&self) -> &str {
        let cut = self.0.len().saturating_sub(8);
        self.0.get(cut..).unwrap_or(&self.0)
    }
}

impl fmt::Display for SessionId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// An event's place in the whole log of a workspace; the first is 1.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Seq(pub u64);

impl fmt::Display for Seq {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

/// A SHA-256, written as 64 hexadecimal digits.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub struct Digest(pub [u8; 32]);

impl Digest {
    pub fn of(bytes: &[u8]) -> Self {
        Digest(sha2::Sha256::digest(bytes).into())
    }

    /// Digest of several parts; each is preceded by its length, so that parts cannot run into each other.
    pub fn of_parts<'a>(parts: impl IntoIterator<Item = &'a [u8]>) -> Self {
        let mut hash = sha2::Sha256::new();
        for part in parts {
            hash.update((part.len() as u64).to_le_bytes());
            hash.update(part);
        }
        Digest(hash.finalize().into())
    }

    /// Digest of a value's JSON form.
    pub fn of_json<T: Serialize>(value: &T) -> Self {
        Digest::of(&serde_json::to_vec(value).unwrap_or_default())
    }

    /// The first eight digits, for the screen.
    pub fn short(&self) -> String {
        self.to_string().chars().take(8).collect()
    }
}

impl fmt::Display for Digest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let digit = |n: u8| if n < 10 { b'0' + n } else { b'a' + n - 10 };
        let mut text = [0; 64];
        for (pair, byte) in text.as_chunks_mut().0.iter_mut().zip(self.0) {
            *pair = [digit(byte >> 4), digit(byte & 15)];
        }
        f.write_str(str::from_utf8(&text).unwrap_or_default())
    }
}

impl fmt::Debug for Digest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Digest({})", self.short())
    }
}

impl FromStr for Digest {
    type Err = BadId;
    fn from_str(text: &str) -> Result<Self, BadId> {
        let bad = || BadId(text.to_owned());
        if text.len() != 64 {
            return Err(bad());
        }
        let mut bytes = [0; 32];
        for (i, byte) in bytes.iter_mut().enumerate() {
            let pair = text.get(2 * i..2 * i + 2).ok_or_else(bad)?;
            *byte = u8::from_str_radix(pair, 16).map_err(|_| bad())?;
        }
        Ok(Digest(bytes))
    }
}

/// A moment with the person's offset from UTC, so that calendar days can be told without a clock.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default, Serialize, Deserialize)]
pub struct Moment {
    /// Milliseconds since 1970-01-01T00:00:00Z.
    pub millis: i64,
    /// Minutes east of UTC.
    #[serde(default)]
    pub offset: i32,
}

impl Moment {
    pub const fn utc(millis: i64) -> Self {
        Moment { millis, offset: 0 }
    }

    const DAY: i64 = 86_400_000;

    /// Days since 1970-01-01 on the person's calendar.
    pub const fn day(self) -> i64 {
        (self.millis + self.offset as i64 * 60_000).div_euclid(Self::DAY)
    }

    /// ISO weeks (Monday first) since the one that holds 1970-01-01 on the person's calendar.
    pub const fn week(self) -> i64 {
        (self.day() + 3).div_euclid(7)
    }
}

/// Types whose text form is also their serialised form.
macro_rules! serde_as_text {
    ($($type:ty),*) => {$(
        impl Serialize for $type {
            fn serialize<S: Serializer>(&self, s: S) -> Result<S::Ok, S::Error> {
                s.collect_str(self)
            }
        }
        impl<'de> Deserialize<'de> for $type {
            fn deserialize<D: Deserializer<'de>>(d: D) -> Result<Self, D::Error> {
                String::deserialize(d)?.parse().map_err(de::Error::custom)
            }
        }
    )*};
}
pub(crate) use serde_as_text;

serde_as_text!(RuleId, GrantId, ProposalId, Digest);
