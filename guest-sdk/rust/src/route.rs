//! A resource, or a family of resources, with its handlers.

use std::time::{Duration, SystemTime};

use crate::content::Contents;
use crate::entry::{Audience, Entry, Icon};
use crate::list::scope;
use crate::time::millis;
use crate::wire::Encoder;
use crate::{abi, Readable, Request, Result};

/// A resource, or a family of resources, with its handlers. Its methods give it back changed, so that they chain; they
/// panic on what only a programmer's mistake can cause.
///
/// ```
/// use wasmres::{Provider, Request, Result, Route};
///
/// fn note(r: &Request) -> Result<String> {
///     let id: u32 = r.parse("id")?;
///     Ok(format!("Note {} by {}.", id, r.var("author")))
/// }
///
/// let note = Route::template("notes://by/{author}/{id}", note)
///     .name("note")
///     .mime("text/plain")
///     .complete_from("author", ["ada", "grace"]);
/// let provider = Provider::new("notes", "1.0.0").route(note);
/// ```
pub struct Route {
    pub(crate) kind: Kind,
    pub(crate) entry: Entry,
    pub(crate) read: Handler<Contents>,
    completers: Vec<(String, Completer)>,
    pub(crate) watch: Option<Watch>,
    pub(crate) ttl: Duration,
    pub(crate) public: bool,
    pub(crate) ranges: bool,
}

type Handler<T> = Box<dyn Fn(&Request) -> Result<T>>;

/// Gives each of the values that a completer suggests to the last parameter.
type Completer = Box<dyn Fn(&Request, &str, &mut dyn FnMut(&str)) -> Result<()>>;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    Resource,
    Template,
    Any,
}

pub(crate) struct Watch {
    pub(crate) every: Duration,
    pub(crate) version: Handler<String>,
}

impl Route {
    fn new<T: Readable>(kind: Kind, uri: String, read: impl Fn(&Request) -> Result<T> + 'static) -> Self {
        Route {
            kind,
            entry: Entry::new(uri),
            read: Box::new(move |request| Ok(read(request)?.into_contents())),
            completers: Vec::new(),
            watch: None,
            ttl: Duration::ZERO,
            public: false,
            ranges: false,
        }
    }

    /// Makes a single resource with a fixed URI, which clients see listed.
    ///
    /// # Panics
    ///
    /// When the URI is a template.
    #[must_use]
    pub fn resource<T: Readable>(uri: impl Into<String>, read: impl Fn(&Request) -> Result<T> + 'static) -> Self {
        let uri = uri.into();
        assert!(!uri.contains(&['{', '}'][..]), "{} is a template: use Route::template", uri);
        Route::new(Kind::Resource, uri, read)
    }

    /// Makes a family of resources, as in `users://{user_id}`. The host matches URIs (RFC 6570) and hands the decoded
    /// variables to the handler: see [`Request::var`].
    #[must_use]
    pub fn template<T: Readable>(template: impl Into<String>, read: impl Fn(&Request) -> Result<T> + 'static) -> Self {
        Route::new(Kind::Template, template.into(), read)
    }

    /// Makes what answers for URIs that are no [`Route::resource`] and match no [`Route::template`], such as those
    /// [`Provider::list`](crate::Provider::list) names. Of the other methods [`Route::mime`], [`Route::ttl`],
    /// [`Route::public`] and [`Route::watch`] apply.
    #[must_use]
    pub fn any<T: Readable>(read: impl Fn(&Request) -> Result<T> + 'static) -> Self {
        Route::new(Kind::Any, String::new(), read)
    }

    /// Sets the short name; without it the last part of the URI serves, or the template.
    #[must_use]
    pub fn name(self, name: impl Into<String>) -> Self {
        self.entry(|entry| entry.name(name))
    }

    /// Sets the name people see.
    #[must_use]
    pub fn title(self, title: impl Into<String>) -> Self {
        self.entry(|entry| entry.title(title))
    }

    /// Says in a sentence or two what is to be found here, for people and models.
    #[must_use]
    pub fn describe(self, description: impl Into<String>) -> Self {
        self.entry(|entry| entry.describe(description))
    }

    /// Sets the type of the contents, unless a content names its own.
    #[must_use]
    pub fn mime(self, mime: impl Into<String>) -> Self {
        self.entry(|entry| entry.mime(mime))
    }

    /// Tells the size in bytes of a resource.
    #[must_use]
    pub fn size(self, bytes: u64) -> Self {
        self.entry(|entry| entry.size(bytes))
    }

    /// Says how much this matters, from 0 for optional to 1 for required.
    #[must_use]
    pub fn priority(self, priority: f64) -> Self {
        self.entry(|entry| entry.priority(priority))
    }

    /// Tells when a resource changed last.
    #[must_use]
    pub fn last_modified(self, time: SystemTime) -> Self {
        self.entry(|entry| entry.last_modified(time))
    }

    /// Says whom this is meant for. Called twice it is meant for both.
    #[must_use]
    pub fn audience(self, audience: Audience) -> Self {
        self.entry(|entry| entry.audience(audience))
    }

    /// Adds an icon.
    #[must_use]
    pub fn icon(self, icon: Icon) -> Self {
        self.entry(|entry| entry.icon(icon))
    }

    /// Sets the `_meta` of the listing, a JSON object.
    #[must_use]
    pub fn meta(self, json: impl Into<String>) -> Self {
        self.entry(|entry| entry.meta(json))
    }

    fn entry(mut self, change: impl FnOnce(Entry) -> Entry) -> Self {
        self.entry = change(self.entry);
        self
    }

    /// Says how long clients may keep an answer. Without it they keep none.
    #[must_use]
    pub fn ttl(mut self, time: Duration) -> Self {
        self.ttl = time;
        self
    }

    /// Says that an answer that is kept may be given to anybody, not only to who asked.
    #[must_use]
    pub fn public(mut self) -> Self {
        self.public = true;
        self
    }

    /// Says that parts of a template's resources may be asked for: see [`Request::range`].
    #[must_use]
    pub fn ranges(mut self) -> Self {
        self.ranges = true;
        self
    }

    /// Sets what suggests values for a variable of the template, given what was typed so far. Variables the client
    /// knows already are in the request. The values are passed on as they are: filter them by prefix yourself, or use
    /// [`Route::complete_from`]. At most 100 reach the client.
    ///
    /// # Panics
    ///
    /// When this is no template, or it has no such variable.
    #[must_use]
    pub fn complete<T: AsRef<str>>(
        mut self,
        variable: impl Into<String>,
        complete: impl Fn(&Request, &str) -> Result<Vec<T>> + 'static,
    ) -> Self {
        let variable = variable.into();
        let known = self.kind == Kind::Template && has_variable(&self.entry.uri, &variable);
        assert!(known, "{} has no variable {} to complete", self.entry.uri, variable);
        let completer: Completer = Box::new(move |request, prefix, add| {
            complete(request, prefix)?.iter().for_each(|value| add(value.as_ref()));
            Ok(())
        });
        self.completers.push((variable, completer));
        self
    }

    /// Suggests those of the values that begin with what was typed, regardless of ASCII case.
    ///
    /// # Panics
    ///
    /// As [`Route::complete`] does.
    #[must_use]
    pub fn complete_from<T: Into<String>>(
        self,
        variable: impl Into<String>,
        values: impl IntoIterator<Item = T>,
    ) -> Self {
        let values: Vec<String> = values.into_iter().map(T::into).collect();
        self.complete(variable, move |_, prefix| {
            let begins =
                |value: &&String| value.get(..prefix.len()).map_or(false, |begin| begin.eq_ignore_ascii_case(prefix));
            Ok(values.iter().filter(begins).cloned().collect::<Vec<_>>())
        })
    }

    /// Lets clients follow changes: while somebody does, the host asks `version` every so often and tells them when its
    /// answer, an etag, differs from the last one.
    ///
    /// # Panics
    ///
    /// When `every` is zero.
    #[must_use]
    pub fn watch(mut self, every: Duration, version: impl Fn(&Request) -> Result<String> + 'static) -> Self {
        assert!(every > Duration::ZERO, "{} cannot be watched every 0 seconds", self.entry.uri);
        self.watch = Some(Watch { every, version: Box::new(version) });
        self
    }

    /// Gives the operations this is served by: bit n for operation n.
    pub(crate) fn ops(&self) -> u32 {
        let mut ops = 1 << abi::OP_READ;
        if !self.completers.is_empty() {
            ops |= 1 << abi::OP_COMPLETE;
        }
        if self.watch.is_some() {
            ops |= 1 << abi::OP_SUBSCRIBE | 1 << abi::OP_POLL;
        }
        ops
    }

    pub(crate) fn completer(&self, variable: &str) -> Option<&Completer> {
        self.completers.iter().find(|completer| completer.0 == variable).map(|completer| &completer.1)
    }

    /// Adds what a manifest says of a template.
    pub(crate) fn encode_template(&self, template: &mut Encoder) {
        self.entry.encode(template, true);
        for (variable, _) in &self.completers {
            template.element(12, variable.as_bytes());
        }
        template.flag(13, self.ranges);
        template.number(14, millis(self.ttl));
        template.number(15, scope(self.public));
    }
}

/// Reports whether a variable stands in an expression of a template.
fn has_variable(template: &str, variable: &str) -> bool {
    let expressions = template.split('{').skip(1).filter_map(|part| part.split('}').next());
    let mut names = expressions
        .flat_map(|expression| expression.trim_start_matches(&['+', '#', '.', '/', ';', '?', '&'][..]).split(','))
        .map(|name| name.trim_end_matches('*').split(':').next().unwrap_or(name));
    names.any(|name| name == variable)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn variables_are_found() {
        let template = "a://{x}/{+y,z:3}{?list*,end}";
        for name in ["x", "y", "z", "list", "end"] {
            assert!(has_variable(template, name), "{}", name);
        }
        for name in ["", "a", "+y", "z:3", "list*"] {
            assert!(!has_variable(template, name), "{}", name);
        }
    }

    #[test]
    #[should_panic(expected = "a://{x} has no variable y to complete")]
    fn unknown_variables_cannot_be_completed() {
        let _ = Route::template("a://{x}", |_| Ok("")).complete_from("y", ["z"]);
    }
}
