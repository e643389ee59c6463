//! Commands that reach other machines: what they ask for, what they send, what they run there.

use super::{
    commands::{Call, attribute},
    options::{Sorted, sort},
    scope::Scope,
    stream::{Content, Stream},
    table::{Flag, Role},
    walk::Walk,
    words::Arg,
};
use crate::{
    domain::{Effect, Extent, Kind, Resource, Verb},
    intake::services::web,
};

/// The host that a URL, an scp-like name or a bare name leads to.
pub(super) fn host(arg: &Arg) -> Resource {
    let text = match arg {
        Arg::Known(text) => text.as_str(),
        Arg::Unknown { prefix, .. } | Arg::Pattern(prefix) if prefix.contains("://") && authority_ends(prefix) => {
            prefix
        }
        Arg::Unknown { .. } | Arg::Pattern(_) | Arg::Set(_) => return Resource::any(Kind::Host),
    };
    match host_of(text) {
        Some(host) if !host.contains(['*', '{', '[']) => Resource::named(Kind::Host, host),
        Some(_) | None => Resource::any(Kind::Host),
    }
}

fn authority_ends(url: &str) -> bool {
    url.split_once("://").is_some_and(|(_, rest)| rest.contains(['/', '?']))
}

fn host_of(text: &str) -> Option<String> {
    let (scheme, rest) = text.split_once("://").map_or((None, text), |(s, r)| (Some(s), r));
    if scheme == Some("file") {
        return None;
    }
    // Some programs take a backslash for a slash.
    let authority = rest.split(['/', '?', '#', '\\']).next()?;
    let name = authority.rsplit('@').next()?;
    let name = match name.strip_prefix('[') {
        Some(six) => six.split(']').next()?,
        None => name.split(':').next()?,
    };
    (!name.is_empty()).then(|| name.trim_end_matches('.').to_ascii_lowercase())
}

impl Walk<'_> {
    /// `curl` and `wget`.
    pub(super) fn fetch(&mut self, call: &Call<'_>, scope: &mut Scope, input: &Stream) -> Option<Stream> {
        let sorted = sort(call.tool, call.args);
        if sorted.asks_for_help() {
            return None;
        }
        if let Some(config) = sorted.value("-K").or(sorted.value("-i").filter(|_| call.name == "wget")) {
            let why = format!("what `{}` fetches stands in `{}`", call.name, config.shown());
            self.opaque_program(call.name, None, &why);
        }
        let mut urls = sorted.operands.clone();
        urls.extend(sorted.values.iter().filter(|(_, role, _)| *role == Role::Url).map(|(_, _, arg)| arg.clone()));
        let before = self.reads();
        let mut sent = input.sources.clone();
        for (_, role, value) in &sorted.values {
            match role {
                Role::SendFile => self.sent_file(value, scope),
                Role::SendAt => {
                    // `@file`, `name=@file`, `name@file`, `<file`.
                    if let Some(at) = value.start().find(['@', '<']) {
                        self.sent_file(&value.without(at + 1), scope);
                    }
                }
                Role::Read => self.act(Verb::Read, value, false, scope),
                Role::Write => self.write(Verb::Overwrite, value, scope),
                _ => {}
            }
        }
        sent.extend(self.read_since(before));
        let data = sorted.values.iter().any(|(_, role, _)| matches!(role, Role::SendFile | Role::SendAt));
        let method = method(&sorted, data);
        let texts =
            sorted.values.iter().filter(|(_, role, _)| *role == Role::SendAt).filter_map(|(_, _, arg)| arg.text());
        let body = texts.reduce(|a, b| if a.len() > b.len() { a } else { b }).map(str::to_owned);
        for url in &urls {
            let there = host(url);
            if url.start().starts_with("file:") {
                self.act(Verb::Read, &url.without("file://".len()), false, scope);
                continue;
            }
            for effect in web::effects(&method, url.start(), there.clone(), body.as_deref()) {
                self.push(effect);
            }
            self.sends(&there, &sent);
            if sorted.flag("-O") || call.name == "wget" && sorted.value("-O").is_none() && !sorted.flag("--spider") {
                self.fetched_file(url, &sorted, scope);
            }
        }
        Some(Stream { foreign: true, sources: Vec::new(), ..Stream::unknown() })
    }

    fn sent_file(&mut self, file: &Arg, scope: &Scope) {
        self.act(Verb::Read, file, false, scope);
    }

    /// The files in `sent` leave for `there`.
    pub(super) fn sends(&mut self, there: &Resource, sent: &[String]) {
        for what in sent {
            self.push(Effect::new(Verb::Send, there.clone()).with("what", what.as_str()));
        }
    }

    /// The file that gets the last part of the URL as its name.
    fn fetched_file(&mut self, url: &Arg, sorted: &Sorted<'_>, scope: &Scope) {
        let directory = sorted.value("--output-dir").and_then(Arg::text).unwrap_or(".");
        let path =
            url.text().and_then(|u| u.split(['?', '#']).next()).map(|u| u.split_once("://").map_or(u, |(_, r)| r));
        let name =
            path.and_then(|p| p.split_once('/')).and_then(|(_, p)| p.rsplit('/').next()).filter(|n| !n.is_empty());
        let target = match name {
            Some(name) => Arg::Known(format!("{directory}/{name}")),
            None if path.is_some() => Arg::Known(format!("{directory}/index.html")),
            None => Arg::Pattern(format!("{}/*", crate::intake::paths::quote(directory))),
        };
        self.write(Verb::Overwrite, &target, scope);
    }

    /// `ssh host command`.
    pub(super) fn remote_shell(&mut self, call: &Call<'_>, scope: &mut Scope, input: &Stream) -> Option<Stream> {
        let sorted = sort(call.tool, call.args);
        let Some((target, command)) = sorted.operands.split_first() else { return Some(Stream::unknown()) };
        for (name, _, value) in &sorted.values {
            let start = value.start().to_ascii_lowercase();
            let runs = ["proxycommand", "localcommand", "permitlocalcommand", "knownhostscommand"];
            if *name == "-o" && runs.iter().any(|r| start.starts_with(r)) {
                self.opaque_program(call.name, None, "an option makes ssh run a command here");
            }
        }
        self.option_reads(&sorted, scope);
        let there = host(target);
        self.push(Effect::new(Verb::Request, there.clone()).with("method", "ssh"));
        self.sends(&there, &input.sources);
        match (command, &input.content) {
            ([], Content::Nothing) => {
                // An open session: what is done in it cannot be told.
                self.push(Effect::new(Verb::Unknown, there).with("why", "a shell on another machine"));
            }
            ([], Content::Text(text)) => {
                self.elsewhere(there, text);
            }
            ([], Content::Names(_) | Content::Unknown) => {
                self.push(
                    Effect::new(Verb::Unknown, there).with("why", "another machine runs text that cannot be told"),
                );
            }
            (words, _) => match words.iter().map(Arg::text).collect::<Option<Vec<_>>>() {
                Some(words) => {
                    self.elsewhere(there, &words.join(" "));
                }
                None => {
                    self.push(
                        Effect::new(Verb::Unknown, there)
                            .with("why", "the command on the other machine cannot be told"),
                    );
                }
            },
        }
        Some(Stream { foreign: true, ..Stream::unknown() })
    }

    fn option_reads(&mut self, sorted: &Sorted<'_>, scope: &Scope) {
        for (_, role, value) in &sorted.values {
            if *role == Role::Read {
                self.act(Verb::Read, value, false, scope);
            }
        }
    }

    /// `scp`, `rsync`: names with a host in front are elsewhere.
    pub(super) fn remote_copy(&mut self, call: &Call<'_>, scope: &mut Scope) -> Option<Stream> {
        let sorted = sort(call.tool, call.args);
        if sorted.asks_for_help() || sorted.has(Flag::Dry) {
            return Some(Stream::unknown());
        }
        for (_, role, value) in &sorted.values {
            match role {
                Role::Script => {
                    self.opaque_program(call.name, None, &format!("`{}` runs `{}`", call.name, value.shown()))
                }
                Role::Read => self.act(Verb::Read, value, false, scope),
                Role::Write => self.write(Verb::Overwrite, value, scope),
                _ => {}
            }
        }
        let [sources @ .., destination] = sorted.operands.as_slice() else { return Some(Stream::unknown()) };
        let tree = sorted.has(Flag::Tree) || call.name == "rsync";
        let before = self.reads();
        for source in sources {
            match remote(source) {
                Some((there, what)) => {
                    self.push(Effect::new(Verb::Request, there).with("method", call.name).with("what", what));
                }
                None => self.act(Verb::Read, source, tree, scope),
            }
        }
        let sent = self.read_since(before);
        match remote(destination) {
            Some((there, what)) => {
                self.push(Effect::new(Verb::Request, there.clone()).with("method", call.name));
                self.sends(&there, &sent);
                let mut lands = Effect::new(Verb::Overwrite, there.clone()).with("what", what.as_str());
                lands.certainty = crate::domain::Certainty::Possible;
                self.push(lands);
                if sorted.flag("--delete") {
                    self.push(Effect::new(Verb::Delete, there).with("what", what));
                }
            }
            None => {
                if sources.is_empty() {
                    self.act(Verb::List, destination, true, scope);
                } else {
                    if sorted.flag("--delete") {
                        self.act(Verb::Delete, destination, true, scope);
                    }
                    let verb = if sorted.has(Flag::Keep) { Verb::Create } else { Verb::Overwrite };
                    let more = attribute("what", sent.join(" "));
                    self.possibly(|walk| walk.act_with(verb, destination, tree, scope, &more));
                }
            }
        }
        if sorted.flag("--remove-source-files") {
            for source in sources {
                self.act(Verb::Delete, source, true, scope);
            }
        }
        Some(Stream::unknown())
    }
}

/// `host:path` and `rsync://host/path`, but not `./a:b`.
fn remote(arg: &Arg) -> Option<(Resource, String)> {
    let start = arg.start();
    if start.starts_with("rsync://") || start.starts_with("scp://") || start.starts_with("sftp://") {
        return Some((host(arg), arg.shown()));
    }
    let colon = start.find(':')?;
    let name = start.get(..colon)?;
    if name.is_empty() || name.contains('/') {
        return None;
    }
    let there = host(&Arg::known(name));
    (!matches!(there.extent, Extent::Any))
        .then(|| (there, arg.without(colon + 1).shown().trim_start_matches(':').to_owned()))
}

fn method(sorted: &Sorted<'_>, data: bool) -> String {
    if let Some(method) = sorted.value("-X").or(sorted.value("--method")) {
        return method.text().map_or_else(|| "?".to_owned(), str::to_ascii_uppercase);
    }
    let uploads = sorted.value("-T").is_some();
    match () {
        () if sorted.flag("-I") || sorted.flag("--spider") => "HEAD",
        () if sorted.flag("-G") => "GET",
        () if uploads => "PUT",
        () if data => "POST",
        () => "GET",
    }
    .to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hosts_of_names() {
        for (text, want) in [
            ("https://a.example/x", "a.example"),
            ("https://good.example@evil.example:8443/x?q=@y", "evil.example"),
            ("http://[::1]:80/", "::1"),
            ("Example.ORG.", "example.org"),
            ("user@host:path", "host"),
            ("example.org/path", "example.org"),
        ] {
            assert_eq!(host(&Arg::known(text)), Resource::named(Kind::Host, want), "{text}");
        }
        assert_eq!(host(&Arg::hole()), Resource::any(Kind::Host));
    }
}
