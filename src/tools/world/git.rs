//! The state of a git work tree, asked of git itself with everything switched off that a repository could make it
//! run: hooks, monitors, filters, helpers, transports.

use super::{Caps, paths, unavailable};
use crate::domain::Fact;
use std::{
    io::Read as _,
    path::Path,
    process::{Command, Stdio},
    sync::mpsc::{RecvTimeoutError, channel},
    time::Duration,
};

/// Of what git says.
const OUTPUT_CAP: u64 = 8 * 1024 * 1024;

/// Settings that outrank the repository's own. The last ones keep git from taking its word that nothing changed.
const SETTINGS: [(&str, &str); 14] = [
    ("core.fsmonitor", "false"),
    ("core.hooksPath", "/dev/null"),
    ("core.sshCommand", "false"),
    ("core.pager", "cat"),
    ("core.attributesFile", "/dev/null"),
    ("core.excludesFile", "/dev/null"),
    ("core.untrackedCache", "false"),
    ("diff.external", ""),
    ("credential.helper", ""),
    ("protocol.allow", "never"),
    ("core.checkStat", "default"),
    ("core.trustctime", "true"),
    ("core.ignoreStat", "false"),
    ("core.fileMode", "true"),
];

const ENVIRONMENT: [(&str, &str); 9] = [
    ("GIT_CONFIG_NOSYSTEM", "1"),
    ("GIT_CONFIG_GLOBAL", "/dev/null"),
    ("GIT_OPTIONAL_LOCKS", "0"),
    ("GIT_NO_LAZY_FETCH", "1"),
    ("GIT_ALLOW_PROTOCOL", "none"),
    ("GIT_TERMINAL_PROMPT", "0"),
    ("GIT_ASKPASS", "false"),
    ("LC_ALL", "C"),
    ("PATH", "/usr/bin:/bin"),
];

/// The work tree that holds `path` (absolute). What no commit holds is in `dirty` or `untracked`; ignored files are
/// in the latter, a name with `/` at its end stands for all below it.
pub(super) fn state(git: &Path, path: &Path, caps: &Caps) -> Fact {
    let outside = Fact::Git { root: None, dirty: vec![], untracked: vec![], branch: None, capped: false };
    let Ok(resolved) = paths::resolve(path) else { return unavailable("the path cannot be resolved") };
    let Some(root) = resolved.ancestors().find(|dir| dir.join(".git").symlink_metadata().is_ok()) else {
        return outside;
    };
    let git = Git { program: git, root, time: caps.time };
    match git.status(caps.matches) {
        Ok(fact) => fact,
        Err(why) => unavailable(&format!("git: {why}")),
    }
}

struct Git<'a> {
    program: &'a Path,
    root: &'a Path,
    time: Duration,
}

impl Git<'_> {
    fn status(&self, cap: usize) -> Result<Fact, String> {
        let filters = self.filters()?;
        let ask = |args: &[&str]| self.ask(&filters, args);
        let told = ask(&[
            "status",
            "--porcelain=v2",
            "-z",
            "--branch",
            "--untracked-files=all",
            "--ignored=matching",
            "--ignore-submodules=dirty",
        ])?;
        let mut told = read_status(&told)?;
        // Files git was told to take for unchanged, and what lies in repositories of their own, are vouched for by
        // nobody.
        let listed = ask(&["ls-files", "-v", "--stage", "-z"])?;
        told.dirty.extend(listed.split('\0').filter_map(unwatched));
        told.dirty.sort();
        told.dirty.dedup();
        let capped = told.dirty.len() > cap || told.untracked.len() > cap;
        told.dirty.truncate(cap);
        told.untracked.truncate(cap);
        let root = self.root.to_str().ok_or("the root's name is not UTF-8")?.to_owned();
        Ok(Fact::Git { root: Some(root), dirty: told.dirty, untracked: told.untracked, branch: told.branch, capped })
    }

    /// Settings that switch off every filter the repository defines. Listing a configuration runs nothing.
    fn filters(&self) -> Result<Vec<(String, &'static str)>, String> {
        let names = self.ask(&[], &["config", "--list", "--name-only", "-z"])?;
        let drivers = names.split('\0').filter_map(|name| name.strip_prefix("filter.")?.rsplit_once('.'));
        let off = [("clean", ""), ("smudge", ""), ("process", ""), ("required", "false")];
        Ok(drivers.flat_map(|(d, _)| off.map(|(key, value)| (format!("filter.{d}.{key}"), value))).collect())
    }

    fn ask(&self, filters: &[(String, &str)], args: &[&str]) -> Result<String, String> {
        let fixed = SETTINGS.iter().map(|(key, value)| (*key, *value));
        let settings: Vec<(&str, &str)> =
            fixed.chain(filters.iter().map(|(key, value)| (key.as_str(), *value))).collect();
        let mut command = Command::new(self.program);
        command.arg("--no-optional-locks").arg("-C").arg(self.root).args(args);
        command.env_clear().envs(ENVIRONMENT).env("GIT_CONFIG_COUNT", settings.len().to_string()).current_dir("/");
        for (n, (key, value)) in settings.iter().enumerate() {
            command.env(format!("GIT_CONFIG_KEY_{n}"), key).env(format!("GIT_CONFIG_VALUE_{n}"), value);
        }
        let (ok, out) = run_capped(command, self.time)?;
        if ok { Ok(out) } else { Err(format!("`{}` failed", args.first().copied().unwrap_or_default())) }
    }
}

struct Told {
    dirty: Vec<String>,
    untracked: Vec<String>,
    branch: Option<String>,
}

/// Reads porcelain v2 with NUL ends.
fn read_status(text: &str) -> Result<Told, String> {
    let mut told = Told { dirty: vec![], untracked: vec![], branch: None };
    let mut entries = text.split('\0');
    while let Some(entry) = entries.next() {
        let (mark, rest) = entry.split_once(' ').unwrap_or((entry, ""));
        // Fields before the path: eight in an ordinary entry, nine in a rename, ten in a conflict.
        let path = |fields: usize| rest.splitn(fields, ' ').last().unwrap_or_default().to_owned();
        match mark {
            "#" => told.branch = rest.strip_prefix("branch.head ").map(str::to_owned).or(told.branch),
            "1" => told.dirty.push(path(8)),
            "2" => {
                told.dirty.push(path(9));
                told.dirty.extend(entries.next().map(str::to_owned));
            }
            "u" => told.dirty.push(path(10)),
            "?" | "!" => told.untracked.push(rest.to_owned()),
            "" => {}
            _ => return Err(format!("an entry `{mark}` that is not known")),
        }
    }
    told.branch = told.branch.filter(|b| b != "(detached)");
    Ok(told)
}

/// The path of an index entry that status says nothing of: marked as unchanged or skipped, or a submodule.
fn unwatched(entry: &str) -> Option<String> {
    let (fields, path) = entry.split_once('\t')?;
    let mut fields = fields.split(' ');
    let (tag, mode) = (fields.next()?, fields.next()?);
    if mode == "160000" {
        return Some(format!("{path}/"));
    }
    (tag == "S" || tag.chars().all(|c| c.is_ascii_lowercase())).then(|| path.to_owned())
}

/// Runs a command that reads nothing and says little, for so long; ended, it says an error.
fn run_capped(mut command: Command, time: Duration) -> Result<(bool, String), String> {
    let mut child = command
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .map_err(|e| e.to_string())?;
    let (done, answer) = channel();
    if let Some(out) = child.stdout.take() {
        std::thread::spawn(move || {
            let mut text = Vec::new();
            let read = out.take(OUTPUT_CAP + 1).read_to_end(&mut text);
            let _ = done.send(read.map(|_| text));
        });
    }
    let read = answer.recv_timeout(time);
    if !matches!(read, Ok(Ok(ref text)) if text.len() as u64 <= OUTPUT_CAP) {
        let _ = child.kill();
    }
    let status = child.wait().map_err(|e| e.to_string())?;
    match read {
        Ok(Ok(text)) if text.len() as u64 > OUTPUT_CAP => Err("says too much".into()),
        Ok(Ok(text)) => {
            String::from_utf8(text).map(|t| (status.success(), t)).map_err(|_| "a name is not UTF-8".into())
        }
        Ok(Err(e)) => Err(e.to_string()),
        Err(RecvTimeoutError::Timeout) => Err("takes too long".into()),
        Err(RecvTimeoutError::Disconnected) => Err("said nothing".into()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn status_is_read_whatever_names_hold() {
        let text = "# branch.oid abc\0# branch.head main\x001 .M N... 100644 100644 100644 a b with space\0\
                    2 R. N... 100644 100644 100644 a b R100 new\0old\0u UU N... 1 1 1 1 a b c conflict\0? un tracked\0! target/\0";
        let told = read_status(text).unwrap();
        assert_eq!(told.dirty, ["with space", "new", "old", "conflict"]);
        assert_eq!(told.untracked, ["un tracked", "target/"]);
        assert_eq!(told.branch.as_deref(), Some("main"));
        assert_eq!(unwatched("h 100644 abc 0\tx").as_deref(), Some("x"));
        assert_eq!(unwatched("H 160000 abc 0\tsub").as_deref(), Some("sub/"));
        assert_eq!(unwatched("H 100644 abc 0\tx"), None);
    }
}
