//! Where weal keeps its own files: XDG directories of the person, never the workspace.

use anyhow::{Context, Result};
use std::path::{Path, PathBuf};

#[derive(Debug, Clone)]
pub struct Dirs {
    pub home: PathBuf,
    pub config: PathBuf,
    pub data: PathBuf,
    pub state: PathBuf,
}

impl Dirs {
    pub fn from_env() -> Result<Dirs> {
        let home = std::env::var_os("HOME").filter(|h| !h.is_empty()).map(PathBuf::from);
        let home = home
            .context("HOME is not set, so weal does not know where to keep its log; set it to your home directory")?;
        let under = |variable: &str, fallback: &str| {
            let named = std::env::var_os(variable).map(PathBuf::from).filter(|p| p.is_absolute());
            named.unwrap_or_else(|| home.join(fallback)).join("weal")
        };
        Ok(Dirs {
            config: under("XDG_CONFIG_HOME", ".config"),
            data: under("XDG_DATA_HOME", ".local/share"),
            state: under("XDG_STATE_HOME", ".local/state"),
            home,
        })
    }

    /// What no child may reach.
    pub fn own(&self) -> Vec<PathBuf> {
        vec![self.config.clone(), self.data.clone(), self.state.clone()]
    }

    pub fn config_file(&self) -> PathBuf {
        self.config.join("config.toml")
    }

    pub fn rules_file(&self) -> PathBuf {
        self.config.join("rules.toml")
    }
}

/// The workspace: the given directory or the present one, absolute, links resolved.
pub fn workspace(given: Option<&Path>) -> Result<PathBuf> {
    let path = match given {
        Some(path) => path.to_owned(),
        None => std::env::current_dir().context("the present directory is gone; cd somewhere that exists")?,
    };
    path.canonicalize().with_context(|| format!("`{}` is not a directory that can be opened", path.display()))
}
