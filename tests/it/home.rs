//! A home of its own for every run of the program, and the program as a process in it.

use serde_json::Value;
use std::{
    path::{Path, PathBuf},
    process::{Command, Output, Stdio},
};
use tempfile::TempDir;

/// A home and a workspace that vanish together.
pub struct Home {
    root: TempDir,
}

impl Home {
    pub fn new() -> Self {
        let root = tempfile::tempdir().expect("a temporary directory");
        for part in ["home", "work"] {
            std::fs::create_dir(root.path().join(part)).expect("a directory");
        }
        Home { root }
    }

    pub fn home(&self) -> PathBuf {
        self.root.path().join("home")
    }

    pub fn work(&self) -> PathBuf {
        self.root.path().join("work")
    }

    pub fn put(&self, path: &str, text: &str) {
        let path = self.work().join(path);
        std::fs::create_dir_all(path.parent().expect("a parent")).expect("a directory");
        std::fs::write(path, text).expect("a file");
    }

    pub fn config(&self, name: &str, text: &str) {
        let path = self.home().join(".config/weal").join(name);
        std::fs::create_dir_all(path.parent().expect("a parent")).expect("a directory");
        std::fs::write(path, text).expect("a file");
    }

    /// weal with these arguments, not yet started.
    pub fn weal(&self, args: &[&str]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_weal"));
        command.args(args).current_dir(self.work()).env_clear().envs(environment(&self.home()));
        command.stdin(Stdio::null());
        command
    }

    pub fn run(&self, args: &[&str]) -> Ran {
        Ran::of(self.weal(args).output().expect("weal runs"))
    }

    /// With this text on standard input.
    pub fn ask(&self, args: &[&str], input: &str) -> Ran {
        use std::io::Write;
        let mut command = self.weal(args);
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child = command.spawn().expect("weal runs");
        let mut stdin = child.stdin.take().expect("its input");
        // one that refuses early does not read
        let _ = stdin.write_all(input.as_bytes());
        drop(stdin);
        Ran::of(child.wait_with_output().expect("weal ends"))
    }
}

/// A hermetic environment.
pub fn environment(home: &Path) -> Vec<(String, String)> {
    let path = std::env::var("PATH").unwrap_or_else(|_| "/usr/bin:/bin".to_owned());
    let pairs = [
        ("HOME", home.display().to_string()),
        ("PATH", path),
        ("LANG", "C.UTF-8".to_owned()),
        ("TZ", "UTC".to_owned()),
    ];
    pairs.into_iter().map(|(name, value)| (name.to_owned(), value)).collect()
}

/// What a run came to.
#[derive(Debug)]
pub struct Ran {
    pub code: Option<i32>,
    pub out: String,
    pub err: String,
}

impl Ran {
    pub fn of(output: Output) -> Self {
        Ran {
            code: output.status.code(),
            out: String::from_utf8_lossy(&output.stdout).into_owned(),
            err: String::from_utf8_lossy(&output.stderr).into_owned(),
        }
    }

    pub fn json(&self) -> Value {
        serde_json::from_str(&self.out).unwrap_or_else(|e| panic!("no JSON ({e}): {self:?}"))
    }

    /// Each line of standard output as JSON.
    pub fn lines(&self) -> Vec<Value> {
        self.out.lines().map(|l| serde_json::from_str(l).unwrap_or_else(|e| panic!("no JSON ({e}): {l}"))).collect()
    }
}
