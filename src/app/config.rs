//! The configuration file, `config.toml` in weal's configuration directory, and what the environment overrides.

use super::dirs::Dirs;
use anyhow::{Context, Result, bail};
use serde::Deserialize;
use std::{io::ErrorKind, path::Path, time::Duration};

#[derive(Debug, Clone, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Config {
    pub model: ModelConfig,
    pub screen: Screen,
    pub tools: ToolsConfig,
}

/// An OpenAI-compatible endpoint.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct ModelConfig {
    pub base_url: Option<String>,
    pub api_key: Option<String>,
    /// Asked of the endpoint when not given.
    pub name: Option<String>,
    pub temperature: Option<f32>,
    /// Tokens the conversation may fill before it is compacted.
    pub context: u64,
    pub idle_seconds: u64,
    pub attempts: u32,
}

impl Default for ModelConfig {
    fn default() -> Self {
        ModelConfig {
            base_url: None,
            api_key: None,
            name: None,
            temperature: None,
            context: 64_000,
            idle_seconds: 120,
            attempts: 5,
        }
    }
}

#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Screen {
    /// A theme that comes with weal, or the path of a file.
    pub theme: String,
    /// Signs in ASCII.
    pub ascii: bool,
}

impl Default for Screen {
    fn default() -> Self {
        Screen { theme: "dark".to_owned(), ascii: false }
    }
}

#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct ToolsConfig {
    pub timeout_seconds: u64,
    /// Kernel sandbox for children, where there is one.
    pub sandbox: bool,
}

impl Default for ToolsConfig {
    fn default() -> Self {
        ToolsConfig { timeout_seconds: 120, sandbox: true }
    }
}

impl ToolsConfig {
    pub const fn timeout(&self) -> Duration {
        Duration::from_secs(self.timeout_seconds)
    }
}

/// Reads the file, if there is one, and lets the environment override it.
pub fn load(dirs: &Dirs) -> Result<Config> {
    let mut config = read(&dirs.config_file())?;
    let env = |name: &str| std::env::var(name).ok().filter(|v| !v.trim().is_empty());
    if let Some(url) = env("OPENAI_BASE_URL") {
        config.model.base_url = Some(url);
    }
    if let Some(key) = env("OPENAI_API_KEY") {
        config.model.api_key = Some(key);
    }
    if let Some(name) = env("OPENAI_MODEL") {
        config.model.name = Some(name);
    }
    Ok(config)
}

fn read(path: &Path) -> Result<Config> {
    let text = match std::fs::read_to_string(path) {
        Ok(text) => text,
        Err(e) if e.kind() == ErrorKind::NotFound => return Ok(Config::default()),
        Err(e) => return Err(e).with_context(|| format!("`{}` cannot be read", path.display())),
    };
    match toml::from_str(&text) {
        Ok(config) => Ok(config),
        Err(e) => bail!(
            "`{}` is not a configuration weal understands; nothing was changed, correct it and start again\n{}",
            path.display(),
            e.to_string().trim_end()
        ),
    }
}

impl Config {
    /// Somebody is there to answer.
    pub const fn has_endpoint(&self) -> bool {
        self.model.base_url.is_some() || self.model.api_key.is_some()
    }
}
