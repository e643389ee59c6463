//! Redirections: what they write, and the input they leave to the command.

use super::{scope::Scope, stream::Stream, walk::Walk, words::Arg};
use crate::domain::Verb;
use brush_parser::ast;

impl Walk<'_> {
    pub(super) fn redirect_all(
        &mut self,
        list: Option<&ast::RedirectList>,
        scope: &mut Scope,
        input: Stream,
    ) -> (Stream, bool) {
        let all: Vec<_> = list.iter().flat_map(|l| &l.0).collect();
        self.redirects(&all, scope, input)
    }

    /// What the redirections write, the input they leave, and whether standard output goes elsewhere.
    pub(super) fn redirects(
        &mut self,
        all: &[&ast::IoRedirect],
        scope: &mut Scope,
        mut input: Stream,
    ) -> (Stream, bool) {
        let mut silent = false;
        for redirect in all {
            match redirect {
                ast::IoRedirect::File(fd, kind, target) => {
                    if let Some(stream) = self.file_redirect(*fd, kind, target, scope) {
                        input = stream;
                    }
                    let writes = matches!(
                        kind,
                        ast::IoFileRedirectKind::Write
                            | ast::IoFileRedirectKind::Append
                            | ast::IoFileRedirectKind::Clobber
                    );
                    silent |= writes && fd.is_none_or(|fd| fd == 1);
                }
                ast::IoRedirect::HereDocument(_, document) => {
                    let body = &document.doc.value;
                    let arg =
                        if document.requires_expansion { self.expand_heredoc(body, scope) } else { Arg::known(body) };
                    input = arg.text().map_or_else(Stream::unknown, Stream::text);
                }
                ast::IoRedirect::HereString(_, word) => {
                    let arg = self.expand_one(&word.value, scope);
                    input = arg.text().map_or_else(Stream::unknown, |text| Stream::text(format!("{text}\n")));
                }
                ast::IoRedirect::OutputAndError(word, append) => {
                    let verb = if *append { Verb::Modify } else { Verb::Overwrite };
                    for arg in self.expand(&word.value, scope) {
                        self.write(verb, &arg, scope);
                    }
                    silent = true;
                }
            }
        }
        (input, silent)
    }

    fn file_redirect(
        &mut self,
        fd: Option<i32>,
        kind: &ast::IoFileRedirectKind,
        target: &ast::IoFileRedirectTarget,
        scope: &mut Scope,
    ) -> Option<Stream> {
        use ast::IoFileRedirectKind as K;
        let words = match target {
            ast::IoFileRedirectTarget::Filename(word) => self.expand(&word.value, scope),
            ast::IoFileRedirectTarget::Fd(_) => return None,
            ast::IoFileRedirectTarget::ProcessSubstitution(_, shell) => {
                let out = self.deeper(|walk| walk.list(&shell.list, &mut scope.clone(), Stream::unknown()));
                return matches!(kind, K::Read).then_some(out);
            }
            ast::IoFileRedirectTarget::Duplicate(word) => {
                let words = self.expand(&word.value, scope);
                // `>&2` and `>&-` name descriptors; `>& file` is a file.
                let is_descriptor = |arg: &Arg| {
                    arg.text().is_none_or(|t| t.trim_end_matches('-').bytes().all(|b| b.is_ascii_digit()))
                };
                if words.iter().all(is_descriptor) {
                    return None;
                }
                words
            }
        };
        let mut stream = None;
        for arg in &words {
            match kind {
                K::Read | K::DuplicateInput => {
                    let before = self.reads();
                    self.act(Verb::Read, arg, false, scope);
                    let sources = self.read_since(before);
                    stream = (fd.unwrap_or(0) == 0).then(|| Stream { sources, ..Stream::unknown() });
                    if arg.text() == Some("/dev/null") {
                        stream = Some(Stream::default());
                    }
                }
                K::Write | K::Clobber | K::DuplicateOutput => self.write(Verb::Overwrite, arg, scope),
                K::Append | K::ReadAndWrite => self.write(Verb::Modify, arg, scope),
            }
        }
        stream
    }
}
