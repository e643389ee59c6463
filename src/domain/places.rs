//! Where the workspace and the home lie: how names of paths become absolute and canonical again.

/// Absolute paths without a trailing slash (`/` excepted).
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Places {
    pub workspace: String,
    pub home: String,
}

impl Places {
    /// `name` as intake and rules write it (`records/a`, `.`, `~/x`, `/etc`) to an absolute path with `.` and `..`
    /// folded. Purely lexical: links are resolved by facts.
    pub fn absolute(&self, name: &str) -> String {
        let joined = match name.strip_prefix('~') {
            Some("") => self.home.clone(),
            Some(rest) if rest.starts_with('/') => format!("{}{rest}", self.home),
            _ if name.starts_with('/') => name.to_owned(),
            _ => format!("{}/{name}", self.workspace),
        };
        fold(&joined)
    }

    /// An absolute path in canonical form: relative inside the workspace (`.` for itself), `~/…` inside the home,
    /// absolute elsewhere.
    pub fn canonical(&self, absolute: &str) -> String {
        let folded = fold(absolute);
        if let Some(rest) = below(&self.workspace, &folded) {
            return if rest.is_empty() { ".".to_owned() } else { rest.to_owned() };
        }
        match below(&self.home, &folded) {
            Some("") => "~".to_owned(),
            Some(rest) => format!("~/{rest}"),
            None => folded,
        }
    }
}

/// What of `path` lies below `base` (empty for `base` itself), or `None` outside of it.
fn below<'a>(base: &str, path: &'a str) -> Option<&'a str> {
    if base == "/" {
        return path.strip_prefix('/');
    }
    match path.strip_prefix(base)? {
        "" => Some(""),
        rest => rest.strip_prefix('/'),
    }
}

/// Folds `.`, `..` and doubled slashes of an absolute path.
fn fold(path: &str) -> String {
    let mut kept: Vec<&str> = Vec::new();
    for part in path.split('/') {
        match part {
            "" | "." => {}
            ".." => {
                kept.pop();
            }
            part => kept.push(part),
        }
    }
    format!("/{}", kept.join("/"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_become_absolute_and_canonical_again() {
        let places = Places { workspace: "/home/ann/work".into(), home: "/home/ann".into() };
        for (name, absolute, canonical) in [
            ("a/../b//c", "/home/ann/work/b/c", "b/c"),
            (".", "/home/ann/work", "."),
            ("..", "/home/ann", "~"),
            ("~/x", "/home/ann/x", "~/x"),
            ("/etc/./passwd", "/etc/passwd", "/etc/passwd"),
            ("../../../..", "/", "/"),
            ("/home/ann/workshop", "/home/ann/workshop", "~/workshop"),
        ] {
            assert_eq!(places.absolute(name), absolute, "{name}");
            assert_eq!(places.canonical(absolute), canonical, "{name}");
        }
    }
}
