//! The environment of a child: a short list of names that may pass, and a few values that weal sets itself.

use super::MARKER;
use std::{collections::BTreeMap, path::Path};

/// Taken over as they are: language, time, who one is, and where toolchains lie. No keys, agents, displays, buses or
/// multiplexers: a name that is not here does not pass.
const PASS: [&str; 17] = [
    "LANG",
    "LANGUAGE",
    "TZ",
    "USER",
    "LOGNAME",
    "CARGO_HOME",
    "RUSTUP_HOME",
    "RUSTUP_TOOLCHAIN",
    "GOROOT",
    "GOPATH",
    "JAVA_HOME",
    "PYENV_ROOT",
    "NVM_DIR",
    "VIRTUAL_ENV",
    "CONDA_PREFIX",
    "NIX_PATH",
    "SSL_CERT_FILE",
];

/// What a child sees, out of what this process `inherited`.
pub fn scrubbed(
    inherited: &BTreeMap<String, String>,
    path: &str,
    home: &Path,
    private: &Path,
) -> BTreeMap<String, String> {
    let passes = |name: &str| PASS.contains(&name) || name.starts_with("LC_");
    let mut env: BTreeMap<_, _> =
        inherited.iter().filter(|(name, _)| passes(name)).map(|(n, v)| (n.clone(), v.clone())).collect();
    let mut set = |name: &str, value: String| env.insert(name.to_owned(), value);
    set("PATH", path.to_owned());
    set("HOME", home.display().to_string());
    set("TMPDIR", private.display().to_string());
    set("XDG_CACHE_HOME", private.join("cache").display().to_string());
    set("TERM", "dumb".into());
    set("PAGER", "cat".into());
    set("GIT_PAGER", "cat".into());
    set("GIT_TERMINAL_PROMPT", "0".into());
    set(MARKER, "1".into());
    env
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_passes_that_is_not_on_the_list() {
        let inherited =
            ["TMUX", "OPENAI_API_KEY", "SSH_AUTH_SOCK", "DISPLAY", "LD_PRELOAD", "BASH_ENV", "LC_ALL", "PATH"]
                .map(|name| (name.to_owned(), "inherited".to_owned()))
                .into();
        let env = scrubbed(&inherited, "/bin", Path::new("/home/ann"), Path::new("/private"));
        let kept: Vec<&str> = env.iter().filter(|(_, v)| *v == "inherited").map(|(n, _)| n.as_str()).collect();
        assert_eq!(kept, ["LC_ALL"]);
        assert_eq!(env["PATH"], "/bin");
        assert_eq!(env[MARKER], "1");
    }
}
