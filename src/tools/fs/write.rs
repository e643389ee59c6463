//! Writing: whole or not at all, and what was there before is kept.

use super::{Answer, Files, ToolError, counted};
use crate::tools::{
    digest_of,
    place::{Last, Place},
    unique,
};
use cap_std::fs::{Dir, OpenOptions};
use serde_json::json;
use similar::TextDiff;
use std::{
    io::{self, Read as _, Write as _},
    time::Duration,
};

/// Of a file that is edited or compared.
const TEXT_CAP: u64 = 16 * 1024 * 1024;
/// Comparing may take so long; then it is coarse.
const DIFF_TIME: Duration = Duration::from_millis(300);
/// Of a text that is compared for the screen.
const DIFF_CAP: usize = 1024 * 1024;

impl Files {
    pub(super) fn write(&self, path: &str, content: &str) -> Result<Answer, ToolError> {
        let place = self.ground.place(path, Last::Followed)?;
        let before = match place.metadata()? {
            Some(_) => Some(text_of(&place)?),
            None => None,
        };
        self.replace(&place, content.as_bytes())?;
        let what = if before.is_some() { "replaced" } else { "made" };
        let mut answer = Answer::new(format!("{what} `{path}` ({})", counted(content.len() as u64, "byte")));
        answer.diff = before.unwrap_or(Some(String::new())).and_then(|old| diff(&place, &old, content));
        Ok(answer)
    }

    pub(super) fn edit(&self, path: &str, old: &str, new: &str) -> Result<Answer, ToolError> {
        let place = self.ground.place(path, Last::Followed)?;
        place.existing()?;
        let before = text_of(&place)?.ok_or_else(|| ToolError::refused(path, "is no text file"))?;
        if old.is_empty() {
            return Err(ToolError::Arguments("`old` is empty (to write a whole file take fs_write)".into()));
        }
        match before.matches(old).count() {
            1 => {}
            0 => return Err(ToolError::refused(path, "the old text does not occur in it (read the file again)")),
            n => {
                let why =
                    format!("the old text occurs {n} times in it, and must once (add some of its surroundings)");
                return Err(ToolError::refused(path, why));
            }
        }
        let after = before.replacen(old, new, 1);
        self.replace(&place, after.as_bytes())?;
        let mut answer = Answer::new(format!("edited `{path}`"));
        answer.diff = diff(&place, &before, &after);
        Ok(answer)
    }

    /// Puts `content` at a place in one step: whoever looks sees the old file or the new one.
    fn replace(&self, place: &Place, content: &[u8]) -> Result<(), ToolError> {
        self.keep(place)?;
        let dir = place.make_holder()?;
        let mode = place.metadata()?.map(|m| m.permissions());
        let write = |dir: &Dir, name: &str| -> io::Result<()> {
            let mut file = dir.open_with(name, OpenOptions::new().write(true).create_new(true))?;
            file.write_all(content)?;
            if let Some(mode) = mode {
                file.set_permissions(mode)?;
            }
            dir.rename(name, dir, &place.name)
        };
        let name = format!(".weal-{}", unique());
        write(&dir, &name).map_err(|e| {
            let _ = dir.remove_file(&name);
            place.failed(&e)
        })
    }

    /// Keeps what is about to be replaced, in the trash. Only a file can be replaced.
    pub(super) fn keep(&self, place: &Place) -> Result<(), ToolError> {
        let Some(meta) = place.metadata()? else { return Ok(()) };
        if place.is_root() || meta.is_dir() {
            return Err(ToolError::refused(place.given(), "is a directory (name a file)"));
        }
        if !meta.is_file() {
            return Err(ToolError::refused(place.given(), "is no regular file"));
        }
        let mut file = place.open_file()?;
        let mut kept = || -> io::Result<()> {
            let dir = self.trash.join(unique());
            std::fs::create_dir(&dir)?;
            let copy = dir.join("content");
            io::copy(&mut file, &mut std::fs::File::create_new(&copy)?)?;
            let digest = digest_of(std::fs::File::open(&copy)?)?;
            let origin = json!({ "path": place.inner, "sha256": digest });
            std::fs::write(dir.join("origin.json"), origin.to_string())
        };
        kept().map_err(|e| ToolError::refused(place.given(), format!("what is there could not be kept: {e}")))
    }
}

/// The text at a place; `None` where it is none, or too long.
fn text_of(place: &Place) -> Result<Option<String>, ToolError> {
    let mut bytes = Vec::new();
    place.open_file()?.take(TEXT_CAP + 1).read_to_end(&mut bytes).map_err(|e| place.failed(&e))?;
    Ok(String::from_utf8(bytes).ok().filter(|t| t.len() as u64 <= TEXT_CAP))
}

fn diff(place: &Place, old: &str, new: &str) -> Option<String> {
    if old == new || old.len().max(new.len()) > DIFF_CAP {
        return None;
    }
    let name = place.inner.display();
    let compared = TextDiff::configure().timeout(DIFF_TIME).diff_lines(old, new);
    Some(compared.unified_diff().context_radius(3).header(&format!("a/{name}"), &format!("b/{name}")).to_string())
}
