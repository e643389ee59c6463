//! Listing, reading, searching.

use super::{Answer, Files, ToolError, counted, going_on};
use crate::tools::place::{Last, enter, open_file};
use cap_std::fs::Dir;
use regex::bytes::Regex;
use std::{
    fmt::Write as _,
    io::{BufRead as _, BufReader, Read as _},
    path::{Path, PathBuf},
};
use tokio_util::sync::CancellationToken;

const ENTRIES: usize = 2_000;
/// Of a file that is read or searched.
const FILE_CAP: u64 = 8 * 1024 * 1024;
const MATCHES: usize = 500;
/// Of one matching line, in characters.
const LINE: usize = 400;
/// A file with a NUL among its first bytes is no text.
const SNIFF: usize = 8 * 1024;

impl Files {
    pub(super) fn list(&self, path: &str) -> Result<Answer, ToolError> {
        let place = self.ground.place(path, Last::Followed)?;
        let dir = place.open_dir()?;
        let mut lines = Vec::new();
        for name in names(&dir).map_err(|e| place.failed(&e))? {
            let shown = name.display();
            let line = match dir.symlink_metadata(&name) {
                Ok(m) if m.is_dir() => format!("{shown}/"),
                Ok(m) if m.is_symlink() => {
                    let target = dir.read_link_contents(&name).unwrap_or_default();
                    format!("{shown} -> {}", target.display())
                }
                Ok(m) if m.is_file() => format!("{shown}\t{}", counted(m.len(), "byte")),
                Ok(_) => format!("{shown}\tspecial"),
                Err(e) => format!("{shown}\t{e}"),
            };
            lines.push(line);
        }
        let more = lines.len().saturating_sub(ENTRIES);
        lines.truncate(ENTRIES);
        if more > 0 {
            lines.push(format!("… and {more} more"));
        }
        Ok(Answer::new(if lines.is_empty() { "(empty)".to_owned() } else { lines.join("\n") }))
    }

    pub(super) fn read(&self, path: &str, offset: u64, limit: u64) -> Result<Answer, ToolError> {
        let place = self.ground.place(path, Last::Followed)?;
        let mut file = BufReader::new(place.open_file()?);
        let sniffed = file.fill_buf().map_err(|e| place.failed(&e))?;
        if is_binary(sniffed) {
            return Err(ToolError::refused(path, "is no text file"));
        }
        let mut body = Vec::new();
        let mut line = Vec::new();
        let mut number = 0u64;
        while number < offset.saturating_sub(1).saturating_add(limit) {
            line.clear();
            let room = FILE_CAP.saturating_sub(body.len() as u64);
            if file.by_ref().take(room).read_until(b'\n', &mut line).map_err(|e| place.failed(&e))? == 0 {
                if room == 0 {
                    body.extend(
                        format!("\n… the file goes on after {FILE_CAP} bytes: read on with offset …").bytes(),
                    );
                }
                break;
            }
            number += 1;
            if number >= offset {
                body.extend(&line);
            }
        }
        if number < offset.saturating_sub(1) {
            return Err(ToolError::refused(path, format!("has only {}", counted(number, "line"))));
        }
        Ok(Answer::new(String::from_utf8_lossy(&body)))
    }

    pub(super) fn search(&self, pattern: &str, path: &str, cancel: &CancellationToken) -> Result<Answer, ToolError> {
        let regex = Regex::new(pattern).map_err(|e| ToolError::Arguments(format!("`{pattern}`: {e}")))?;
        let place = self.ground.place(path, Last::Followed)?;
        let mut search = Searching { regex, cancel, text: String::new(), matches: 0, skipped: 0 };
        if place.existing()?.is_dir() {
            let shown = if place.is_root() { PathBuf::new() } else { place.inner.clone() };
            search.below(&place.open_dir()?, &shown)?;
        } else {
            search.file(place.holder()?, &place.name, &place.inner);
        }
        if search.matches == 0 {
            search.text.push_str("no match\n");
        } else if search.matches >= MATCHES {
            let _ = writeln!(search.text, "… stopped after {MATCHES} matches");
        }
        if search.skipped > 0 {
            let _ = writeln!(search.text, "(not searched: {}, binary or too large)", counted(search.skipped, "file"));
        }
        Ok(Answer::new(search.text.trim_end()))
    }
}

struct Searching<'a> {
    regex: Regex,
    cancel: &'a CancellationToken,
    text: String,
    matches: usize,
    skipped: u64,
}

impl Searching<'_> {
    fn below(&mut self, dir: &Dir, shown: &Path) -> Result<(), ToolError> {
        for name in names(dir).unwrap_or_default() {
            going_on(self.cancel)?;
            if self.matches >= MATCHES {
                return Ok(());
            }
            let path = shown.join(&name);
            match dir.symlink_metadata(&name) {
                // The insides of version control are not the workspace's text.
                Ok(meta) if meta.is_dir() && name.as_os_str() != ".git" => {
                    if let Ok(next) = enter(dir, &name) {
                        self.below(&next, &path)?;
                    }
                }
                Ok(meta) if meta.is_file() => self.file(dir, &name, &path),
                Ok(_) | Err(_) => {}
            }
        }
        Ok(())
    }

    fn file(&mut self, dir: &Dir, name: &Path, shown: &Path) {
        let mut bytes = Vec::new();
        let read = open_file(dir, name).and_then(|f| f.take(FILE_CAP + 1).read_to_end(&mut bytes));
        if read.is_err() || bytes.len() as u64 > FILE_CAP || is_binary(&bytes) {
            self.skipped += 1;
            return;
        }
        for (number, line) in bytes.split(|b| *b == b'\n').enumerate() {
            if self.matches >= MATCHES {
                return;
            }
            if self.regex.is_match(line) {
                self.matches += 1;
                let line: String = String::from_utf8_lossy(line).trim_end().chars().take(LINE).collect();
                let _ = writeln!(self.text, "{}:{}: {line}", shown.display(), number + 1);
            }
        }
    }
}

/// Names of the entries, sorted.
pub(crate) fn names(dir: &Dir) -> std::io::Result<Vec<PathBuf>> {
    let entries = dir.entries()?.collect::<std::io::Result<Vec<_>>>()?;
    let mut names: Vec<PathBuf> = entries.iter().map(|e| PathBuf::from(e.file_name())).collect();
    names.sort();
    Ok(names)
}

fn is_binary(bytes: &[u8]) -> bool {
    bytes.iter().take(SNIFF).any(|b| *b == 0)
}
