//! The git subcommands that can lose work or publish it, read against the state of the work tree.

use super::{
    commands::{Call, for_good},
    options::{Sorted, sort},
    scope::Scope,
    stream::Stream,
    table::{Flag, Special},
    walk::Walk,
    words::Arg,
};
use crate::{
    domain::{Effect, Kind, Resource, Reversibility, Verb},
    intake::paths::{WorkTree, overlap},
};

/// Paths told one by one.
const MAX_LISTED: usize = 50;

/// Settings that only change looks; any other `-c` can make git run something.
const TAME_SETTINGS: [&str; 12] = [
    "user.",
    "author.",
    "committer.",
    "color.",
    "advice.",
    "core.quotepath",
    "core.autocrlf",
    "init.defaultbranch",
    "commit.gpgsign",
    "log.",
    "column.",
    "safe.directory",
];

impl Walk<'_> {
    /// `git -c alias.p=push p …`, and settings that run something.
    pub(super) fn git_alias(
        &mut self,
        call: &Call<'_>,
        sorted: &Sorted<'_>,
        name: &str,
        rest: &[Arg],
        scope: &mut Scope,
    ) -> Option<Stream> {
        if call.name != "git" {
            return None;
        }
        let mut found = None;
        for (option, _, setting) in &sorted.values {
            if *option != "-c" && *option != "--config-env" {
                continue;
            }
            let key = setting.start().to_ascii_lowercase();
            match key.strip_prefix("alias.").and_then(|alias| alias.split_once('=')) {
                Some((alias, _)) if alias == name.to_ascii_lowercase() => {
                    let value = "alias.".len() + alias.len() + 1;
                    found = Some(setting.without(value));
                }
                Some(_) => {}
                None if TAME_SETTINGS.iter().any(|tame| key.starts_with(tame)) => {}
                None => self.opaque_program("git", None, "a setting on the command line can make git run something"),
            }
        }
        let line = found?;
        let Some(text) = line.text() else {
            self.opaque_program("git", None, "an alias on the command line cannot be told");
            return Some(Stream::unknown());
        };
        if let Some(shell) = text.strip_prefix('!') {
            return Some(self.run(shell, scope, Stream::default()));
        }
        let words: Vec<Arg> = std::iter::once("git").chain(text.split_whitespace()).map(Arg::known).collect();
        let words: Vec<Arg> = words.into_iter().chain(rest.iter().cloned()).collect();
        Some(self.deeper(|walk| walk.dispatch_program(&words, &[], scope, Stream::default())))
    }

    pub(super) fn git(&mut self, special: Special, call: &Call<'_>, scope: &mut Scope) -> Option<Stream> {
        let sorted = sort(call.tool, call.args);
        if sorted.asks_for_help() || sorted.has(Flag::Dry) {
            return Some(Stream::unknown());
        }
        match special {
            Special::GitPush => self.push_branches(&sorted, scope),
            Special::GitClone => self.clone_repository(call, &sorted, scope),
            Special::GitCheckout => self.checkout(call, &sorted, scope),
            Special::GitRestore => self.restore(&sorted, scope),
            Special::GitReset => self.reset(&sorted, scope),
            Special::GitClean => self.clean(&sorted, scope),
            Special::GitBranch => self.branch(call, &sorted, scope),
            Special::GitStash => self.stash(&sorted, scope),
            Special::GitRefs => self.refs(call, &sorted, scope),
            Special::GitRemove => {
                let index_only = sorted.flag("--cached");
                for arg in sorted.operands.iter().filter(|_| !index_only) {
                    self.act(Verb::Delete, arg, sorted.has(Flag::Tree), scope);
                }
                self.dot_git(scope);
            }
            // Not git's: `special` sends none of these here.
            _ => return None,
        }
        Some(Stream::unknown())
    }

    fn dot_git(&mut self, scope: &Scope) {
        self.act(Verb::Modify, &Arg::known(".git"), false, scope);
    }

    fn work_tree(&mut self, scope: &Scope) -> Option<WorkTree> {
        if self.is_remote() {
            return None;
        }
        let cwd = scope.cwd.clone()?;
        self.ask.git(&cwd)
    }

    fn push_branches(&mut self, sorted: &Sorted<'_>, scope: &Scope) {
        let mut operands = sorted.operands.iter();
        let remote = sorted.value("--repo").or_else(|| operands.next()).cloned();
        let name = remote.as_ref().map_or(Some("origin"), Arg::text);
        let there = match name {
            Some(url) if url.contains("://") || url.contains('@') => super::network::host(&Arg::known(url)),
            Some(name) => Resource::named(Kind::Remote, name),
            None => Resource::any(Kind::Remote),
        };
        self.push(Effect::new(Verb::Request, there).with("method", "git-push"));
        let everything = ["--all", "--mirror", "--tags", "--branches", "--prune"].iter().any(|f| sorted.flag(f));
        let current = self.work_tree(scope).and_then(|tree| tree.branch);
        let specs: Vec<&Arg> = operands.collect();
        let mut specs: Vec<(Resource, bool, bool)> =
            specs.iter().map(|spec| refspec(spec, current.as_deref())).collect();
        if specs.is_empty() || everything {
            let branch = current.filter(|_| !everything);
            specs.push((
                branch.map_or(Resource::any(Kind::Branch), |b| Resource::named(Kind::Branch, b)),
                false,
                false,
            ));
        }
        let forced = sorted.has(Flag::Force) || sorted.flag("--mirror");
        for (branch, plus, deletes) in specs {
            let mut effect = Effect::new(Verb::Publish, branch.clone());
            if let Some(name) = name {
                effect = effect.with("remote", name);
            }
            if forced || plus {
                effect = for_good(effect).with("force", true);
            }
            let deletes = deletes || sorted.flag("--delete");
            if deletes || sorted.flag("--prune") {
                effect = for_good(effect).with("delete", true);
                self.push(Effect::new(Verb::Delete, branch).with("remote", name.unwrap_or("?")));
            }
            self.push(effect);
        }
    }

    fn clone_repository(&mut self, call: &Call<'_>, sorted: &Sorted<'_>, scope: &mut Scope) {
        let Some((url, rest)) = sorted.operands.split_first() else { return };
        if let Some(line) = sorted.value("--upload-pack") {
            self.opaque_program(call.name, None, &format!("`{}` runs `{}`", call.name, line.shown()));
        }
        if url.start().contains("://") || url.start().contains('@') {
            self.push(Effect::new(Verb::Request, super::network::host(url)).with("method", "git-clone"));
        } else {
            self.act(Verb::Read, url, true, scope);
        }
        let name = url.text().and_then(|u| u.trim_end_matches('/').rsplit(['/', ':']).next());
        let name = name.map(|n| n.strip_suffix(".git").unwrap_or(n)).map_or_else(Arg::hole, Arg::known);
        self.act(Verb::Create, rest.first().unwrap_or(&name), true, scope);
    }

    /// Work-tree files within `within` that would lose what no commit holds.
    fn lose(&mut self, within: &[Arg], scope: &Scope) {
        let Some(tree) = self.work_tree(scope).filter(|t| !t.capped) else {
            for arg in within {
                self.act(Verb::Overwrite, arg, true, scope);
            }
            return;
        };
        for arg in within {
            let inside = arg.text().and_then(|name| self.absolute(name, scope)).map(|path| {
                let path = self.ask.around.places.absolute(&path);
                path.strip_prefix(&tree.root).map(|rest| rest.trim_start_matches('/').to_owned())
            });
            let Some(Some(inside)) = inside else {
                self.act(Verb::Overwrite, arg, true, scope);
                continue;
            };
            let lost: Vec<&String> =
                tree.dirty.iter().filter(|path| inside.is_empty() || overlap(path, &inside)).collect();
            if lost.is_empty() {
                self.act(Verb::Modify, arg, true, scope);
            } else if lost.len() > MAX_LISTED {
                self.act(Verb::Overwrite, arg, true, scope);
            }
            for path in lost.iter().take_while(|_| lost.len() <= MAX_LISTED) {
                let absolute = format!("{}/{path}", tree.root);
                self.act(Verb::Overwrite, &Arg::Known(absolute), false, scope);
            }
        }
    }

    /// The whole work tree, from its root where that is known.
    fn all(&mut self, scope: &Scope) -> Vec<Arg> {
        vec![Arg::Known(self.work_tree(scope).map_or_else(|| ".".to_owned(), |tree| tree.root))]
    }

    /// `checkout` is two commands: switching branches, which git refuses when it would lose work, and restoring paths.
    fn checkout(&mut self, call: &Call<'_>, sorted: &Sorted<'_>, scope: &Scope) {
        self.dot_git(scope);
        if let Some(name) = sorted.value("-B") {
            self.reference(Verb::Overwrite, name, true, call);
        }
        let dashes = call.args.iter().position(|a| a.text() == Some("--"));
        let paths: Vec<Arg> = match dashes {
            Some(at) => call.args.get(at + 1..).unwrap_or_default().to_vec(),
            None if ["-b", "-B", "--orphan", "--detach", "--track"]
                .iter()
                .any(|f| sorted.flag(f) || sorted.value(f).is_some()) =>
            {
                Vec::new()
            }
            // Of several operands the first may be a commit.
            None if sorted.operands.len() > 1 => sorted.operands.get(1..).unwrap_or_default().to_vec(),
            None => sorted.operands.iter().filter(|arg| self.is_path(arg, scope)).cloned().collect(),
        };
        if !paths.is_empty() {
            return self.lose(&paths, scope);
        }
        let all = self.all(scope);
        if sorted.has(Flag::Force) {
            return self.lose(&all, scope);
        }
        if sorted.value("-b").is_none() || sorted.operands.len() > 1 {
            for arg in &all {
                self.act(Verb::Modify, arg, true, scope);
            }
        }
    }

    /// An operand that names a path and hardly a branch.
    fn is_path(&mut self, arg: &Arg, scope: &Scope) -> bool {
        let Some(name) = arg.text() else { return true };
        if name == "."
            || name.starts_with("./")
            || name.starts_with("../")
            || name.ends_with('/')
            || name.starts_with(':')
        {
            return true;
        }
        match self.place(name, scope).and_then(|place| place.seen) {
            Some(seen) => seen.kind != crate::domain::PathKind::Missing,
            None => false,
        }
    }

    fn restore(&mut self, sorted: &Sorted<'_>, scope: &Scope) {
        self.dot_git(scope);
        if !sorted.flag("--staged") || sorted.flag("--worktree") {
            self.lose(&sorted.operands, scope);
        }
    }

    fn reset(&mut self, sorted: &Sorted<'_>, scope: &Scope) {
        self.dot_git(scope);
        if ["--hard", "--merge", "--keep"].iter().any(|f| sorted.flag(f)) {
            let all = self.all(scope);
            self.lose(&all, scope);
        }
    }

    /// Untracked files, which no commit holds.
    fn clean(&mut self, sorted: &Sorted<'_>, scope: &Scope) {
        let here = vec![Arg::known(".")];
        let within = if sorted.operands.is_empty() { &here } else { &sorted.operands };
        let ignored_too = sorted.flag("-x") || sorted.flag("-X");
        let Some(tree) = self.work_tree(scope).filter(|t| !t.capped && !ignored_too) else {
            for arg in within {
                self.act(Verb::Delete, arg, true, scope);
            }
            return;
        };
        for arg in within {
            let absolute = arg.text().and_then(|name| self.absolute(name, scope));
            let absolute = absolute.map(|path| self.ask.around.places.absolute(&path));
            let inside =
                absolute.as_deref().and_then(|p| p.strip_prefix(&tree.root)).map(|p| p.trim_start_matches('/'));
            let Some(inside) = inside else {
                self.act(Verb::Delete, arg, true, scope);
                continue;
            };
            let gone: Vec<&String> =
                tree.untracked.iter().filter(|p| inside.is_empty() || overlap(p, inside)).collect();
            if gone.len() > MAX_LISTED {
                self.act(Verb::Delete, arg, true, scope);
                continue;
            }
            for path in gone {
                let directory = path.ends_with('/');
                // Whole directories go only with `-d`.
                if !directory || sorted.flag("-d") {
                    let name = Arg::Known(format!("{}/{}", tree.root, path.trim_end_matches('/')));
                    self.act(Verb::Delete, &name, directory, scope);
                }
            }
        }
    }

    fn branch(&mut self, call: &Call<'_>, sorted: &Sorted<'_>, scope: &Scope) {
        let has = |flags: &[&str]| flags.iter().any(|f| sorted.flag(f));
        let forced = has(&["-D", "-M", "-C"]) || sorted.has(Flag::Force);
        match sorted.operands.as_slice() {
            [] => return self.act(Verb::Read, &Arg::known(".git"), true, scope),
            names if has(&["-D", "-d"]) => {
                for name in names {
                    // `-d` only takes what is merged elsewhere.
                    self.reference(Verb::Delete, name, forced, call);
                }
            }
            [rest @ .., new] if has(&["-m", "-M", "-c", "-C"]) => {
                if has(&["-m", "-M"]) {
                    self.reference(Verb::Move, rest.first().unwrap_or(&Arg::hole()), forced, call);
                }
                if forced {
                    self.reference(Verb::Overwrite, new, true, call);
                }
            }
            [name, ..] if forced => self.reference(Verb::Overwrite, name, true, call),
            _ => {}
        }
        self.dot_git(scope);
    }

    /// A name for a commit goes or leads elsewhere; where it led, nothing may lead any more.
    fn reference(&mut self, verb: Verb, name: &Arg, forced: bool, call: &Call<'_>) {
        let text = name.text().map(|name| name.strip_prefix("refs/heads/").unwrap_or(name));
        let branch = text.map_or(Resource::any(Kind::Branch), |b| Resource::named(Kind::Branch, b));
        let mut effect = for_good(Effect::new(verb, branch).with("what", call.name));
        if !forced {
            effect.reversibility = Reversibility::Reversible;
        }
        self.push(effect);
    }

    /// Tags, notes, replacements, symbolic names, and what throws away commits that nothing leads to.
    fn refs(&mut self, call: &Call<'_>, sorted: &Sorted<'_>, scope: &Scope) {
        let deletes = sorted.flag("-d");
        let forced = sorted.has(Flag::Force);
        let (deed, rest) = match sorted.operands.split_first() {
            Some((first, rest)) => (first.text().unwrap_or_default(), rest),
            None => ("", [].as_slice()),
        };
        let any = [Arg::hole()];
        let (verb, names) = match call.name {
            "git notes" => match deed {
                "remove" | "prune" => (Some(Verb::Delete), any.as_slice()),
                "add" | "copy" if forced => (Some(Verb::Overwrite), any.as_slice()),
                _ => (None, any.as_slice()),
            },
            "git reflog" => match deed {
                "expire" | "delete" | "drop" => (Some(Verb::Delete), any.as_slice()),
                _ => return self.act(Verb::Read, &Arg::known(".git"), true, scope),
            },
            "git gc" => {
                let now = call.args.iter().any(|a| a.start().starts_with("--prune"));
                (now.then_some(Verb::Delete), any.as_slice())
            }
            // `-d` without `-a` only drops what is packed twice.
            "git repack" => ((deletes && sorted.flag("-a")).then_some(Verb::Delete), any.as_slice()),
            "git symbolic-ref" if !deletes && rest.is_empty() => (None, any.as_slice()),
            "git symbolic-ref" if !deletes => (Some(Verb::Overwrite), sorted.operands.get(..1).unwrap_or_default()),
            _ if deletes => (Some(Verb::Delete), sorted.operands.as_slice()),
            _ if forced => (Some(Verb::Overwrite), sorted.operands.get(..1).unwrap_or_default()),
            _ => (None, any.as_slice()),
        };
        if let Some(verb) = verb {
            for name in names {
                self.reference(verb, name, true, call);
            }
        }
        self.dot_git(scope);
    }

    fn stash(&mut self, sorted: &Sorted<'_>, scope: &Scope) {
        let deed = sorted.operands.first().and_then(Arg::text).unwrap_or("push");
        match deed {
            "list" | "show" => self.act(Verb::Read, &Arg::known(".git"), true, scope),
            "drop" | "clear" => {
                self.push(Effect::new(Verb::Delete, Resource::named(Kind::Thing, "git stash")).with("what", deed));
                self.dot_git(scope);
            }
            // Changes go into the stash, or come back out of it.
            _ => {
                self.dot_git(scope);
                let all = self.all(scope);
                for arg in &all {
                    self.act(Verb::Modify, arg, true, scope);
                }
            }
        }
    }
}

/// Branch at the remote, whether it is forced, whether it is deleted.
fn refspec(spec: &Arg, current: Option<&str>) -> (Resource, bool, bool) {
    let Some(text) = spec.text() else { return (Resource::any(Kind::Branch), spec.start().starts_with('+'), false) };
    let (text, forced) = text.strip_prefix('+').map_or((text, false), |rest| (rest, true));
    let (from, to) = text.split_once(':').unwrap_or((text, text));
    let deletes = from.is_empty() && !to.is_empty();
    let to = to.strip_prefix("refs/heads/").unwrap_or(to);
    let branch = match to {
        "" => Resource::any(Kind::Branch),
        "HEAD" | "@" => current.map_or(Resource::any(Kind::Branch), |b| Resource::named(Kind::Branch, b)),
        name if name.contains('*') => Resource::any(Kind::Branch),
        name => Resource::named(Kind::Branch, name),
    };
    (branch, forced, deletes)
}
