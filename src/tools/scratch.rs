//! Scratch workspaces: small worlds for demos and evaluations, made from a list of files.

use std::{
    io,
    path::{Component, Path},
};

#[derive(Debug, thiserror::Error)]
pub enum ScratchError {
    #[error("the directory `{0}` is not empty (a scratch workspace is made in an empty or new one)")]
    NotEmpty(String),
    #[error("`{0}` does not lie in the scratch workspace (give paths relative to it, without `..`)")]
    Outside(String),
    #[error("`{path}` cannot be written: {why}")]
    Write { path: String, why: io::Error },
}

/// Writes `files` (path, content) below `dir`. A path that ends with `/` is an empty directory. Nothing is written
/// when one of them is wrong.
pub fn build(dir: &Path, files: &[(String, String)]) -> Result<(), ScratchError> {
    let failed = |path: &Path| {
        let path = path.display().to_string();
        move |why| ScratchError::Write { path, why }
    };
    if let Some((bad, _)) = files.iter().find(|(path, _)| !is_inner(path)) {
        return Err(ScratchError::Outside(bad.clone()));
    }
    std::fs::create_dir_all(dir).map_err(failed(dir))?;
    if std::fs::read_dir(dir).map_err(failed(dir))?.next().is_some() {
        return Err(ScratchError::NotEmpty(dir.display().to_string()));
    }
    for (name, content) in files {
        let path = dir.join(name);
        if name.ends_with('/') {
            std::fs::create_dir_all(&path).map_err(failed(&path))?;
            continue;
        }
        if let Some(parent) = path.parent() {
            std::fs::create_dir_all(parent).map_err(failed(parent))?;
        }
        std::fs::write(&path, content).map_err(failed(&path))?;
    }
    Ok(())
}

fn is_inner(path: &str) -> bool {
    let mut parts = Path::new(path).components().peekable();
    parts.peek().is_some() && parts.all(|c| matches!(c, Component::Normal(_)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_scratch_world_is_whole_and_keeps_to_itself() {
        let dir = tempfile::tempdir().unwrap();
        let world = dir.path().join("w");
        let files =
            |list: &[(&str, &str)]| list.iter().map(|(p, c)| ((*p).to_owned(), (*c).to_owned())).collect::<Vec<_>>();
        for bad in ["../x", "/x", "", "a/../../x"] {
            assert!(
                matches!(build(&world, &files(&[("ok", ""), (bad, "")])), Err(ScratchError::Outside(_))),
                "{bad}"
            );
        }
        assert!(!world.exists());
        build(&world, &files(&[("a/b.txt", "hi"), ("empty/", "")])).unwrap();
        assert_eq!(std::fs::read_to_string(world.join("a/b.txt")).unwrap(), "hi");
        assert!(world.join("empty").is_dir());
        assert!(matches!(build(&world, &files(&[("c", "")])), Err(ScratchError::NotEmpty(_))));
    }
}
