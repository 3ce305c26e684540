//! Runs a provider natively in tests, without WebAssembly and without wasmres.
//!
//! ```
//! use wasmres::testing::Host;
//! use wasmres::{Code, Error, Provider, Request, Result, Route};
//!
//! fn provider() -> Provider {
//!     Provider::new("hello", "1.0.0").route(Route::template("greeting://{name}", greet))
//! }
//!
//! fn greet(r: &Request) -> Result<String> {
//!     match r.var("name") {
//!         "nobody" => Err(Error::not_found("nobody is here")),
//!         name => Ok(format!("Hello, {name}!")),
//!     }
//! }
//!
//! let host = Host::new(provider());
//! assert_eq!(host.text("greeting://Ada%20L."), "Hello, Ada L.!");
//! assert_eq!(host.read("greeting://nobody").unwrap_err().code(), Code::NotFound);
//! ```
//!
//! A [`Host`] finds the resource or template for a URI, hands configuration and files out, has functions of the test
//! answer for servers and databases, and keeps values, what is written to files, logs and notices. Like wasmres it
//! refuses answers that break the rules, by a panic, as text that is not UTF-8.
//!
//! It matches URIs against templates as wasmres does. Two things differ. URIs are not checked, so that a provider's own
//! defences can be tested: dot segments, control characters, spaces and the like, which wasmres refuses before the
//! provider sees them, arrive in the variables. And statics live on between calls, where wasmres starts every call
//! afresh.

mod call;
mod files;
mod http;
mod kv;
mod matching;
mod reply;
mod sql;

use std::cell::RefCell;
use std::collections::hash_map::RandomState;
use std::collections::BTreeMap;
use std::hash::{BuildHasher, Hasher};
use std::rc::Rc;
use std::time::{Duration, SystemTime};

use crate::sql::Value;
use crate::wire::Encoder;
use crate::{abi, host, request, serve, Level, Provider, Range, Result};
use call::{Call, Settings};
use files::{Dir, Dirs};
use kv::Store;
use reply::Reply;

pub use http::{HttpRequest, HttpResponse};
pub use reply::{Content, Entry};
pub use sql::Table;

/// Stands for wasmres while a provider is tested: see the [module](self).
pub struct Host {
    provider: Provider,
    settings: Rc<Settings>,
    heard: Rc<RefCell<Heard>>,
    dirs: Rc<RefCell<Dirs>>,
    store: Rc<RefCell<Store>>,
    manifest: RefCell<Option<Rc<Reply>>>,
}

/// What a provider told the host so far.
#[derive(Default)]
struct Heard {
    logs: Vec<(Level, String)>,
    notices: Vec<String>,
}

impl Host {
    /// Makes a host of a provider.
    #[must_use]
    pub fn new(provider: Provider) -> Self {
        Host {
            provider,
            settings: Rc::default(),
            heard: Rc::default(),
            dirs: Rc::default(),
            store: Rc::default(),
            manifest: RefCell::default(),
        }
    }

    fn set(mut self, change: impl FnOnce(&mut Settings)) -> Self {
        change(Rc::make_mut(&mut self.settings));
        self
    }

    /// Sets a value that [`Request::config`](crate::Request::config) gives.
    #[must_use]
    pub fn config(self, key: impl Into<String>, value: impl Into<String>) -> Self {
        self.set(|settings| drop(settings.config.insert(key.into(), value.into())))
    }

    /// Grants a directory with these files, by names with slashes, as [`Dir`](crate::Dir) sees it. It can be read only.
    ///
    /// # Panics
    ///
    /// When a file is in another one.
    #[must_use]
    pub fn dir<N: Into<String>, B: Into<Vec<u8>>>(
        self,
        path: impl Into<String>,
        files: impl IntoIterator<Item = (N, B)>,
    ) -> Self {
        self.grant(path.into(), files, false)
    }

    /// Grants a directory that can be written too, without a bound for what is added. What is written is there in later
    /// calls, and as [`Host::files`] gives it. It goes by the time of [`Host::now`].
    ///
    /// ```
    /// use wasmres::testing::Host;
    /// use wasmres::{Dir, Provider, Route};
    ///
    /// let visit = Route::template("log://{name}", |r| {
    ///     let log = Dir::new("/log").append("visits.txt", format!("{}\n", r.var("name")))?;
    ///     Ok(log.len().to_string())
    /// });
    /// let provider = Provider::new("log", "1.0.0").route(visit);
    /// let host = Host::new(provider).writable_dir("/log", [("visits.txt", "Ada\n")]);
    /// assert_eq!(host.text("log://Grace"), "10");
    /// assert_eq!(host.files("/log")["visits.txt"], b"Ada\nGrace\n");
    /// ```
    ///
    /// # Panics
    ///
    /// When a file is in another one.
    #[must_use]
    pub fn writable_dir<N: Into<String>, B: Into<Vec<u8>>>(
        self,
        path: impl Into<String>,
        files: impl IntoIterator<Item = (N, B)>,
    ) -> Self {
        self.grant(path.into(), files, true)
    }

    fn grant<N: Into<String>, B: Into<Vec<u8>>>(
        self,
        path: String,
        files: impl IntoIterator<Item = (N, B)>,
        writable: bool,
    ) -> Self {
        let files = files.into_iter().map(|(name, bytes)| (name.into(), bytes.into()));
        self.dirs.borrow_mut().grant(path, Dir::new(files, writable));
        self
    }

    /// Gives the files that a granted directory has now, by names with slashes. Folders are no files.
    ///
    /// # Panics
    ///
    /// When no directory is granted at that path.
    pub fn files(&self, path: &str) -> BTreeMap<String, Vec<u8>> {
        self.dirs.borrow().files(path).unwrap_or_else(|| panic!("no directory is granted at {}", path))
    }

    /// Sets a variable of the environment, for [`Request::env`](crate::Request::env).
    #[must_use]
    pub fn env(self, name: &str, value: impl Into<String>) -> Self {
        self.config(["env:", name].concat(), value)
    }

    /// Grants requests to servers, and sets what answers them; what it fails with, the request does. Redirects are not
    /// followed, and no time runs out; the body is held to [`HttpRequest::max_bytes`].
    ///
    /// ```
    /// use wasmres::testing::{Host, HttpResponse};
    /// use wasmres::{http, Error, Provider, Route};
    ///
    /// let news = Route::resource("news://today", |_| http::get("https://example.org/news")?.text());
    /// let host = Host::new(Provider::new("news", "1.0.0").route(news)).http(|request| match &*request.url {
    ///     "https://example.org/news" => Ok(HttpResponse::new(200).body("Rain.")),
    ///     url => Err(Error::denied(format!("{url} is not granted"))),
    /// });
    /// assert_eq!(host.text("news://today"), "Rain.");
    /// ```
    #[must_use]
    pub fn http(self, server: impl Fn(&HttpRequest) -> Result<HttpResponse> + 'static) -> Self {
        self.set(|settings| settings.server = Some(Rc::new(server)))
    }

    /// Grants a connection to a database, and sets what answers statements with their arguments; what it fails with,
    /// the statement does.
    ///
    /// ```
    /// use wasmres::testing::{Host, Table};
    /// use wasmres::{sql, Provider, Route};
    ///
    /// let users = Route::resource("users://count", |_| {
    ///     sql::query("main", "select count(*) from users").row()?.get::<String>(0)
    /// });
    /// let host = Host::new(Provider::new("users", "1.0.0").route(users)).sql("main", |statement, _| {
    ///     assert_eq!(statement, "select count(*) from users");
    ///     Ok(Table::new(["count"]).row([42.into()]))
    /// });
    /// assert_eq!(host.text("users://count"), "42");
    /// ```
    #[must_use]
    pub fn sql(
        self,
        connection: impl Into<String>,
        database: impl Fn(&str, &[Value]) -> Result<Table> + 'static,
    ) -> Self {
        self.set(|settings| drop(settings.databases.insert(connection.into(), Rc::new(database))))
    }

    /// Grants a store for values, empty at first and without a quota. It goes by the time of [`Host::now`].
    #[must_use]
    pub fn kv(self) -> Self {
        self.set(|settings| settings.kv = true)
    }

    /// Puts a value into the store, to stay, as another process would.
    pub fn kv_put(&self, key: impl Into<String>, value: impl Into<Vec<u8>>) {
        self.store.borrow_mut().put(key.into(), value.into(), None);
    }

    /// Gives the values there were in the store when the provider last used it.
    pub fn kv_values(&self) -> BTreeMap<String, Vec<u8>> {
        self.store.borrow().values()
    }

    /// Sets who asks.
    #[must_use]
    pub fn principal(self, subject: impl Into<String>, tenant: impl Into<String>) -> Self {
        self.set(|settings| settings.principal = Some((subject.into(), tenant.into())))
    }

    /// Sets the time it is, which stands still then; otherwise it is the real one.
    #[must_use]
    pub fn now(self, time: SystemTime) -> Self {
        self.set(|settings| settings.now = Some(time))
    }

    /// Sets how long a call may run, as [`Request::time_left`](crate::Request::time_left) tells; otherwise a minute.
    /// Nothing is stopped.
    #[must_use]
    pub fn time_left(self, time: Duration) -> Self {
        self.set(|settings| settings.time_left = time)
    }

    /// Sets how many bytes one read may answer; otherwise 64 MiB.
    #[must_use]
    pub fn max_body(self, bytes: u64) -> Self {
        self.set(|settings| settings.max_body = bytes)
    }

    /// Sets how many entries a page has; otherwise the provider decides.
    #[must_use]
    pub fn page_size(self, entries: u32) -> Self {
        self.set(|settings| settings.page_size = entries)
    }

    /// Gives the lines that were logged so far.
    pub fn logs(&self) -> Vec<(Level, String)> {
        self.heard.borrow().logs.clone()
    }

    /// Gives what was said to have changed so far: URIs, and an empty text for the list.
    pub fn notices(&self) -> Vec<String> {
        self.heard.borrow().notices.clone()
    }

    /// Reads a resource.
    pub fn read(&self, uri: &str) -> Result<Vec<Content>> {
        self.read_with(uri, |_, _| {})
    }

    /// Reads a resource unless it is still of the version `etag`.
    pub fn read_if_none_match(&self, uri: &str, etag: &str) -> Result<Vec<Content>> {
        self.read_with(uri, |request, _| request.text(8, etag))
    }

    /// Reads a part of a resource, where the provider says that it can be asked for; otherwise all of it.
    pub fn read_range(&self, uri: &str, range: Range) -> Result<Vec<Content>> {
        self.read_with(uri, |request, ranges| {
            if ranges {
                request.number(6, range.offset);
                request.number(7, range.length.unwrap_or(0));
            }
        })
    }

    /// Reads a resource that is one text.
    ///
    /// # Panics
    ///
    /// When it is anything else.
    pub fn text(&self, uri: &str) -> String {
        match &mut self.read(uri).unwrap_or_else(|error| panic!("read {}: {}", uri, error))[..] {
            [sole] if sole.is_text => String::from_utf8(std::mem::take(&mut sole.bytes)).expect("text is UTF-8"),
            other => panic!("read {}: want one text, got {:?}", uri, other),
        }
    }

    /// Reads a resource that is one binary.
    ///
    /// # Panics
    ///
    /// When it is anything else.
    pub fn bytes(&self, uri: &str) -> Vec<u8> {
        match &mut self.read(uri).unwrap_or_else(|error| panic!("read {}: {}", uri, error))[..] {
            [sole] if !sole.is_text => std::mem::take(&mut sole.bytes),
            other => panic!("read {}: want one binary, got {:?}", uri, other),
        }
    }

    /// Gives everything that is listed, page after page: fixed resources first.
    ///
    /// # Panics
    ///
    /// When a page fails, or they do not end.
    pub fn list(&self) -> Vec<Entry> {
        let mut all = self.manifest().resources.clone();
        if self.provider.list.is_some() {
            all.extend(all_pages("the list", |cursor| self.page(cursor)));
        }
        all
    }

    /// Gives one page of the provider's own list, and the cursor of the next one; empty when this is the last.
    pub fn page(&self, cursor: &str) -> Result<(Vec<Entry>, String)> {
        self.list_page(abi::OP_LIST, Encoder::default(), cursor)
    }

    /// Gives the children of a directory resource, page after page.
    ///
    /// # Panics
    ///
    /// When a page fails, or they do not end.
    pub fn directory(&self, uri: &str) -> Vec<Entry> {
        all_pages(uri, |cursor| self.directory_page(uri, cursor))
    }

    /// Gives one page of the children of a directory resource, and the cursor of the next one; empty when this is the
    /// last.
    ///
    /// # Panics
    ///
    /// When an entry is not a direct child of the directory, which the host refuses.
    pub fn directory_page(&self, uri: &str, cursor: &str) -> Result<(Vec<Entry>, String)> {
        let (request, _) = self.request(uri);
        let (entries, next) = self.list_page(abi::OP_LIST_DIR, request, cursor)?;
        for entry in &entries {
            let name = entry.uri.strip_prefix(uri.trim_end_matches('/')).and_then(|rest| rest.strip_prefix('/'));
            let is_child = name.map_or(false, |name| !name.is_empty() && !name.contains(&['/', '?', '#'][..]));
            assert!(is_child, "{} is not a direct child of {}", entry.uri, uri);
        }
        Ok((entries, next))
    }

    /// Runs a list operation.
    fn list_page(&self, op: u32, mut request: Encoder, cursor: &str) -> Result<(Vec<Entry>, String)> {
        request.text(4, cursor);
        request.number(5, self.settings.page_size.into());
        let reply = self.call(op, &request)?;
        Ok((reply.entries, reply.next_cursor))
    }

    /// Gives what is suggested for a variable of a template. `known` are variables with a value already.
    pub fn complete(
        &self,
        template: &str,
        variable: &str,
        prefix: &str,
        known: &[(&str, &str)],
    ) -> Result<Vec<String>> {
        let mut request = Encoder::default();
        request.text(1, template);
        known.iter().for_each(|&(name, value)| encode_var(&mut request, name, value));
        request.text(10, variable);
        request.text(11, prefix);
        Ok(self.call(abi::OP_COMPLETE, &request)?.completions)
    }

    /// Says that somebody follows a resource, and gives how often the provider wants to be polled; zero for never.
    pub fn subscribe(&self, uri: &str) -> Result<Duration> {
        let (request, _) = self.request(uri);
        Ok(self.call(abi::OP_SUBSCRIBE, &request)?.poll)
    }

    /// Asks whether a resource that is followed is still of the version `etag`; if not, gives the one it is of now.
    ///
    /// # Panics
    ///
    /// When the provider does not answer with one content.
    pub fn poll(&self, uri: &str, etag: &str) -> Result<Option<String>> {
        let (mut request, _) = self.request(uri);
        request.text(8, etag);
        let reply = self.call(abi::OP_POLL, &request)?;
        match &reply.contents[..] {
            [content] if content.not_modified => Ok(None),
            [content] => Ok(Some(content.etag.clone())),
            other => panic!("poll {}: want one content, got {:?}", uri, other),
        }
    }

    fn read_with(&self, uri: &str, add: impl FnOnce(&mut Encoder, bool)) -> Result<Vec<Content>> {
        let (mut request, ranges) = self.request(uri);
        add(&mut request, ranges);
        if let Some((subject, tenant)) = &self.settings.principal {
            request.message(12, |principal| {
                principal.text(1, subject);
                principal.text(2, tenant);
            });
        }
        let contents = self.call(abi::OP_READ, &request)?.contents;
        assert!(!contents.is_empty(), "read {}: the provider answered no content", uri);
        Ok(contents)
    }

    /// Begins a request: the URI, who answers for it, and the variables; and says whether a part may be asked for.
    fn request(&self, uri: &str) -> (Encoder, bool) {
        let mut request = Encoder::default();
        let manifest = self.manifest();
        let wanted = matching::normal(uri);
        if let Some(resource) = manifest.resources.iter().find(|resource| matching::normal(&resource.uri) == wanted) {
            request.text(1, &resource.uri);
            return (request, false);
        }
        request.text(1, uri);
        let templates = manifest.templates.iter().map(|template| template.uri.as_str());
        let (index, vars) = match matching::route(templates, uri) {
            Some(found) => found,
            None => return (request, false),
        };
        request.number(2, index as u64 + 1);
        vars.iter().for_each(|(name, value)| encode_var(&mut request, name, value));
        (request, manifest.templates[index].ranges)
    }

    fn manifest(&self) -> Rc<Reply> {
        let mut manifest = self.manifest.borrow_mut();
        let described = manifest.get_or_insert_with(|| {
            let reply = self.call(abi::OP_DESCRIBE, &Encoder::default());
            Rc::new(reply.unwrap_or_else(|error| panic!("describe: {}", error)))
        });
        Rc::clone(described)
    }

    /// Runs one operation.
    fn call(&self, op: u32, request: &Encoder) -> Result<Reply> {
        let size = request.as_bytes().len() as u32;
        let call = Rc::new(Call::new(
            request.as_bytes().to_vec(),
            Rc::clone(&self.settings),
            Rc::clone(&self.heard),
            Rc::clone(&self.dirs),
            Rc::clone(&self.store),
        ));
        request::set_seed(RandomState::new().build_hasher().finish());
        let code = host::with(Rc::<Call>::clone(&call), || serve::serve(&self.provider, op, size));
        call.end(code)
    }
}

/// Gives the entries of all pages.
fn all_pages(what: &str, page: impl Fn(&str) -> Result<(Vec<Entry>, String)>) -> Vec<Entry> {
    let (mut all, mut cursor) = (Vec::new(), String::new());
    loop {
        let (entries, next) = page(&cursor).unwrap_or_else(|error| panic!("{}, cursor {:?}: {}", what, cursor, error));
        all.extend(entries);
        if next.is_empty() {
            return all;
        }
        assert!(next != cursor, "{}: the page of cursor {:?} leads to itself", what, cursor);
        cursor = next;
    }
}

fn encode_var(request: &mut Encoder, name: &str, value: &str) {
    request.message(3, |var| {
        var.text(1, name);
        var.text(2, value);
    });
}
