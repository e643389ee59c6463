//! Roles to colours, from a theme file. Every colour on the screen is a role here; meaning never hangs on one alone.

use super::widgets::sanitise::sanitise;
use ratatui::{
    buffer::Buffer,
    style::{Color, Modifier, Style},
    text::Span,
};
use serde::Deserialize;
use std::collections::BTreeMap;

/// Declares the roles with their names in theme files.
macro_rules! roles {
    ($($role:ident $name:literal),* $(,)?) => {
        /// What a piece of text is, as far as its looks go.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub enum Role { $($role),* }
        impl Role {
            pub const ALL: &[Role] = &[$(Role::$role),*];
            pub const fn name(self) -> &'static str { match self { $(Role::$role => $name),* } }
            fn from_name(name: &str) -> Option<Role> { match name { $($name => Some(Role::$role),)* _ => None } }
        }
    };
}

roles! {
    Text "text", Dim "dim", Strong "strong", Emphasis "emphasis", Heading "heading", Link "link",
    Code "code", Keyword "keyword", Literal "literal", Comment "comment", Number "number", Name "name", Type "type",
    User "user", Agent "agent", Tool "tool",
    Allow "allow", Ask "ask", Repair "repair", Deny "deny", Latch "latch",
    Rule "rule", Quote "quote", Warn "warn", Simulated "simulated",
    Border "border", Title "title", Focus "focus", Selection "selection", Bar "bar", Key "key",
    Pasted "pasted", Draft "draft", Match "match",
    Added "added", Removed "removed", Hunk "hunk",
}

#[derive(Debug, Clone, PartialEq, thiserror::Error)]
pub enum ThemeError {
    #[error("theme `{theme}`: {why}")]
    Syntax { theme: String, why: String },
    #[error("theme `{theme}`: `{name}` is no role (roles: {})", Role::ALL.iter().map(|r| r.name()).collect::<Vec<_>>().join(", "))]
    NoRole { theme: String, name: String },
    #[error("theme `{theme}`: role `{name}` is missing")]
    Missing { theme: String, name: &'static str },
    #[error(
        "theme `{theme}`: `{colour}` is no colour (use `#rrggbb`, a palette name, or one of the 16 terminal names)"
    )]
    NoColour { theme: String, colour: String },
    #[error("no theme `{name}` (there are: {})", Theme::BUILT_IN.map(|(name, _)| name).join(", "))]
    NoTheme { name: String },
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct File {
    background: String,
    #[serde(default)]
    palette: BTreeMap<String, String>,
    roles: BTreeMap<String, Look>,
}

#[derive(Deserialize)]
#[serde(untagged)]
enum Look {
    Colour(String),
    Full(Full),
}

#[derive(Deserialize, Default)]
#[serde(deny_unknown_fields, default)]
struct Full {
    fg: Option<String>,
    bg: Option<String>,
    bold: bool,
    italic: bool,
    dim: bool,
    underlined: bool,
    reversed: bool,
    crossed_out: bool,
}

/// A loaded theme.
#[derive(Debug, Clone, PartialEq)]
pub struct Theme {
    pub name: String,
    styles: BTreeMap<Role, Style>,
    background: Color,
    /// Draw with ASCII alone.
    pub ascii: bool,
}

impl Theme {
    pub const BUILT_IN: [(&str, &str); 3] = [
        ("dark", include_str!("../../themes/dark.toml")),
        ("light", include_str!("../../themes/light.toml")),
        ("ansi16", include_str!("../../themes/ansi16.toml")),
    ];

    /// A built-in theme by name.
    pub fn built_in(name: &str) -> Result<Theme, ThemeError> {
        let found = Theme::BUILT_IN.iter().find(|(known, _)| *known == name);
        let (name, text) = found.ok_or_else(|| ThemeError::NoTheme { name: name.to_owned() })?;
        Theme::parse(name, text)
    }

    pub fn parse(theme: &str, text: &str) -> Result<Theme, ThemeError> {
        let syntax = |e: toml::de::Error| ThemeError::Syntax { theme: theme.to_owned(), why: e.to_string() };
        let file: File = toml::from_str(text).map_err(syntax)?;
        let colour = |text: &str| {
            let named = file.palette.get(text).map_or(text, String::as_str);
            let bad = || ThemeError::NoColour { theme: theme.to_owned(), colour: text.to_owned() };
            match named {
                "default" => Ok(Color::Reset),
                name => name.parse::<Color>().map_err(|_| bad()),
            }
        };
        let mut styles = BTreeMap::new();
        for (name, look) in &file.roles {
            let no_role = || ThemeError::NoRole { theme: theme.to_owned(), name: name.clone() };
            styles.insert(Role::from_name(name).ok_or_else(no_role)?, style(look, &colour)?);
        }
        if let Some(missing) = Role::ALL.iter().find(|role| !styles.contains_key(role)) {
            return Err(ThemeError::Missing { theme: theme.to_owned(), name: missing.name() });
        }
        Ok(Theme { name: theme.to_owned(), styles, background: colour(&file.background)?, ascii: false })
    }

    /// The same theme without any colour: modifiers only.
    #[must_use]
    pub fn without_colour(mut self) -> Self {
        for (role, style) in &mut self.styles {
            style.fg = None;
            style.bg = None;
            let extra = match role {
                Role::Selection | Role::Bar | Role::Match => Modifier::REVERSED,
                Role::Dim | Role::Comment | Role::Border | Role::Draft => Modifier::DIM,
                Role::Deny | Role::Latch | Role::Focus | Role::Ask | Role::Key | Role::Rule => Modifier::BOLD,
                Role::Pasted | Role::Link => Modifier::UNDERLINED,
                _ => Modifier::empty(),
            };
            style.add_modifier |= extra;
        }
        self.background = Color::Reset;
        self
    }

    pub fn style(&self, role: Role) -> Style {
        self.styles.get(&role).copied().unwrap_or_default()
    }

    /// What the whole screen is filled with first.
    pub fn base(&self) -> Style {
        let base = self.style(Role::Text);
        if self.background == Color::Reset { base } else { base.bg(self.background) }
    }

    /// The only maker of drawn text: whatever comes in is safe to show afterwards.
    pub fn paint(&self, role: Role, text: impl AsRef<str>) -> Span<'static> {
        Span::styled(sanitise(text.as_ref()).into_owned(), self.style(role))
    }
}

fn style(look: &Look, colour: &impl Fn(&str) -> Result<Color, ThemeError>) -> Result<Style, ThemeError> {
    let full = match look {
        Look::Colour(fg) => &Full { fg: Some(fg.clone()), ..Full::default() },
        Look::Full(full) => full,
    };
    let (fg, bg) = (full.fg.as_deref().map(colour).transpose()?, full.bg.as_deref().map(colour).transpose()?);
    let mut style = Style { fg, bg, ..Style::default() };
    for (on, modifier) in [
        (full.bold, Modifier::BOLD),
        (full.italic, Modifier::ITALIC),
        (full.dim, Modifier::DIM),
        (full.underlined, Modifier::UNDERLINED),
        (full.reversed, Modifier::REVERSED),
        (full.crossed_out, Modifier::CROSSED_OUT),
    ] {
        if on {
            style = style.add_modifier(modifier);
        }
    }
    Ok(style)
}

/// Replaces what a terminal without Unicode cannot show, cell by cell.
pub fn asciify(buffer: &mut Buffer) {
    for cell in &mut buffer.content {
        if !cell.symbol().is_ascii() {
            let first = cell.symbol().chars().next().unwrap_or(' ');
            cell.set_symbol(ascii(first));
        }
    }
}

const fn ascii(c: char) -> &'static str {
    match c {
        '─' | '━' | '–' | '—' => "-",
        '│' | '┃' | '▌' | '▎' => "|",
        '┬' | '┴' | '┼' | '├' | '┤' | '╌' => "+",
        '▸' | '⏵' | '→' | '›' | '↳' => ">",
        '▾' | '▽' | '↓' => "v",
        '↑' => "^",
        '←' => "<",
        '✓' => "+",
        '✕' => "x",
        '↻' => "~",
        '◉' => "@",
        '○' => "o",
        '⏸' => "=",
        '§' => "u",
        '•' => "*",
        '…' | '·' => ".",
        'ĥ' => "h",
        'Σ' => "S",
        '“' | '”' => "\"",
        '‘' | '’' => "'",
        '␛' => "^",
        '␣' => "_",
        '⟨' => "<",
        '⟩' => ">",
        '×' => "x",
        '↵' => "/",
        _ => "?",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_built_in_theme_loads() {
        for (name, _) in Theme::BUILT_IN {
            Theme::built_in(name).unwrap();
        }
    }

    #[test]
    fn a_bad_theme_says_what_is_wrong() {
        let dark = Theme::BUILT_IN[0].1;
        for (text, wanted) in [
            ("background = 3", "invalid type"),
            (&dark.replace("deny =", "dney ="), "`dney` is no role"),
            (&dark.replace("\ndeny =", "\n# deny ="), "role `deny` is missing"),
            (&dark.replacen("background = \"", "background = \"x", 1), "is no colour"),
        ] {
            let error = Theme::parse("mine", text).unwrap_err().to_string();
            assert!(error.contains(wanted), "{error}");
        }
        assert!(Theme::built_in("drak").unwrap_err().to_string().contains("dark, light, ansi16"));
    }

    fn luminance(colour: Color) -> f64 {
        let Color::Rgb(r, g, b) = colour else { panic!("{colour} is not rgb") };
        let linear = |c: u8| {
            let c = f64::from(c) / 255.0;
            if c <= 0.03928 { c / 12.92 } else { ((c + 0.055) / 1.055).powf(2.4) }
        };
        0.2126 * linear(r) + 0.7152 * linear(g) + 0.0722 * linear(b)
    }

    #[test]
    fn everything_can_be_read() {
        for name in ["dark", "light"] {
            let theme = Theme::built_in(name).unwrap();
            for role in Role::ALL {
                let style = theme.style(*role);
                let fg = style.fg.unwrap_or_else(|| theme.style(Role::Text).fg.unwrap());
                let (a, b) = (luminance(fg), luminance(style.bg.unwrap_or(theme.background)));
                let ratio = (a.max(b) + 0.05) / (a.min(b) + 0.05);
                let least = if *role == Role::Border { 1.6 } else { 4.5 };
                assert!(ratio >= least, "{name}: {} has a contrast of {ratio:.2}", role.name());
            }
        }
    }

    #[test]
    fn without_colour_there_is_none() {
        let theme = Theme::built_in("dark").unwrap().without_colour();
        assert!(Role::ALL.iter().all(|r| theme.style(*r).fg.is_none() && theme.style(*r).bg.is_none()));
        assert_eq!(theme.base().bg, None);
    }
}
