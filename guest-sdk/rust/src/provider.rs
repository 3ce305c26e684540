//! A provider: what it says of itself, and everything it serves.

use std::time::Duration;

use crate::list::Page;
use crate::route::{Kind, Route};
use crate::time::millis;
use crate::wire::Encoder;
use crate::{abi, Request, Result};

/// What the manifest tells of this SDK.
const SDK: &str = concat!("rust/", env!("CARGO_PKG_VERSION"));

/// The bytes of a page of WebAssembly's memory.
const MEMORY_PAGE: u64 = 64 << 10;

type List = Box<dyn Fn(&Request, &mut Page) -> Result<()>>;

/// A provider of resources. Its methods give it back changed, so that they chain; they panic on what only a
/// programmer's mistake can cause, so that the module is refused when it is loaded.
///
/// ```
/// use wasmres::{Provider, Result, Route};
///
/// fn provider() -> Provider {
///     Provider::new("notes", "1.0.0")
///         .describe("Notes and who wrote them.")
///         .prefix("notes://")
///         .route(Route::resource("notes://readme", |_| Ok("# Notes")).mime("text/markdown"))
/// }
///
/// wasmres::export!(provider);
/// ```
#[derive(Default)]
pub struct Provider {
    name: String,
    version: String,
    title: String,
    description: String,
    prefixes: Vec<String>,
    config_schema: String,
    deadline: Duration,
    memory: u64,
    max_body: u64,
    max_instances: u32,
    lifecycle: u32,
    capabilities: Vec<Capability>,
    templates: Vec<Route>, // the number of a route is its index plus one
    resources: Vec<Route>,
    by_uri: Vec<usize>, // indices of resources, in the order of their URIs
    any: Option<Route>,
    pub(crate) list: Option<List>,
    pub(crate) list_directory: Option<List>,
    warm: Vec<Box<dyn Fn()>>,
    ops: u32, // bit n is set when operation n is served
}

impl Provider {
    /// Makes a provider that serves nothing yet.
    #[must_use]
    pub fn new(name: impl Into<String>, version: impl Into<String>) -> Self {
        Provider { name: name.into(), version: version.into(), ops: 1 << abi::OP_DESCRIBE, ..Provider::default() }
    }

    /// Sets the name people see.
    #[must_use]
    pub fn title(mut self, title: impl Into<String>) -> Self {
        self.title = title.into();
        self
    }

    /// Says in a sentence or two what the provider offers.
    #[must_use]
    pub fn describe(mut self, description: impl Into<String>) -> Self {
        self.description = description.into();
        self
    }

    /// Bounds the URIs of this provider: the host refuses any other it might name. It begins with a scheme, as in
    /// `notes://`. Call it again for more.
    #[must_use]
    pub fn prefix(mut self, prefix: impl Into<String>) -> Self {
        self.prefixes.push(prefix.into());
        self
    }

    /// Sets the JSON Schema of the values [`Request::config`] gives. wasmres does not check them against it yet.
    #[must_use]
    pub fn config_schema(mut self, schema: impl Into<String>) -> Self {
        self.config_schema = schema.into();
        self
    }

    /// Asks for a longest time of one call. The operator's limit wins; wasmres does not act on the wish yet.
    #[must_use]
    pub fn deadline(mut self, time: Duration) -> Self {
        self.deadline = time;
        self
    }

    /// Asks for a number of bytes of memory. The operator's limit wins; wasmres does not act on the wish yet.
    #[must_use]
    pub fn memory(mut self, bytes: u64) -> Self {
        self.memory = bytes;
        self
    }

    /// Asks for a number of bytes one read may answer. The operator's limit wins; wasmres does not act on the wish yet.
    #[must_use]
    pub fn max_body(mut self, bytes: u64) -> Self {
        self.max_body = bytes;
        self
    }

    /// Asks for a number of instances. The operator's limit wins; wasmres does not act on the wish yet.
    #[must_use]
    pub fn max_instances(mut self, instances: u32) -> Self {
        self.max_instances = instances;
        self
    }

    /// Asks that what handlers keep in statics lasts for a session of a client, and is seen by no other. It is a
    /// convenience the operator may refuse, a session may lose, and clients without sessions never have.
    #[must_use]
    pub fn per_session(mut self) -> Self {
        self.lifecycle = abi::LIFECYCLE_SESSION;
        self
    }

    /// Asks that what handlers keep in statics lasts, and is seen by everybody: for caches. The operator may refuse it,
    /// and it may be lost at any time.
    #[must_use]
    pub fn shared(mut self) -> Self {
        self.lifecycle = abi::LIFECYCLE_SHARED;
        self
    }

    /// Asks the operator for a power.
    #[must_use]
    pub fn ask(mut self, capability: Capability) -> Self {
        self.capabilities.push(capability);
        self
    }

    /// Adds a resource, or a family of resources.
    ///
    /// # Panics
    ///
    /// When its URI or template has been added before, or for a second [`Route::any`].
    #[must_use]
    pub fn route(mut self, route: Route) -> Self {
        self.ops |= route.ops();
        let uri = &route.entry.uri;
        match route.kind {
            Kind::Template => {
                assert!(self.template(uri).is_none(), "{} is served twice", uri);
                self.templates.push(route);
            }
            Kind::Resource => {
                let at = self.position(uri).err();
                let at = at.unwrap_or_else(|| panic!("{} is served twice", uri));
                self.by_uri.insert(at, self.resources.len());
                self.resources.push(route);
            }
            Kind::Any => {
                assert!(self.any.is_none(), "there are two Route::any");
                self.any = Some(route);
            }
        }
        self
    }

    /// Sets what answers lists beside the fixed resources, page by page. Those of [`Route::resource`] are listed by the
    /// host and must not be added again.
    ///
    /// ```
    /// use wasmres::{Entry, Provider};
    ///
    /// const NOTES: [&str; 2] = ["first", "second"];
    ///
    /// let provider = Provider::new("notes", "1.0.0")
    ///     .list(|_, page| page.each(NOTES.len(), |i| Entry::new(format!("notes://{}", NOTES[i]))));
    /// ```
    ///
    /// # Panics
    ///
    /// When it is called twice.
    #[must_use]
    pub fn list(mut self, list: impl Fn(&Request, &mut Page) -> Result<()> + 'static) -> Self {
        assert!(self.list.is_none(), "Provider::list is called twice");
        self.list = Some(Box::new(list));
        self.ops |= 1 << abi::OP_LIST;
        self
    }

    /// Sets what answers the direct children of directory resources, page by page. [`Request::uri`] is the directory,
    /// without a slash at its end; the URI of a child is that, a slash, and the name of the child. Directories among the
    /// children have the type [`DIRECTORY_TYPE`](crate::DIRECTORY_TYPE). For a URI that is not one of a directory the
    /// answer is [`Error::not_found`](crate::Error::not_found).
    ///
    /// A provider with directories can have skills: each `SKILL.md` that [`Provider::list`] or [`Route::resource`] lists
    /// is one, with all files below its directory. The host makes their digests.
    ///
    /// ```
    /// use wasmres::{Entry, Error, Page, Provider, Request, Result, Route, DIRECTORY_TYPE};
    ///
    /// fn children(r: &Request, page: &mut Page) -> Result<()> {
    ///     match r.uri() {
    ///         "skill://refunds" => page.each(2, |i| match i {
    ///             0 => Entry::new("skill://refunds/SKILL.md"),
    ///             _ => Entry::new("skill://refunds/examples").mime(DIRECTORY_TYPE),
    ///         }),
    ///         "skill://refunds/examples" => Ok(()), // which is empty
    ///         uri => Err(Error::not_found(format!("{uri} is no directory"))),
    ///     }
    /// }
    ///
    /// let provider = Provider::new("refunds", "1.0.0")
    ///     .route(Route::resource("skill://refunds/SKILL.md", |_| Ok("---\nname: refunds\n---\n")))
    ///     .list_directory(children);
    /// ```
    ///
    /// # Panics
    ///
    /// When it is called twice.
    #[must_use]
    pub fn list_directory(mut self, list: impl Fn(&Request, &mut Page) -> Result<()> + 'static) -> Self {
        assert!(self.list_directory.is_none(), "Provider::list_directory is called twice");
        self.list_directory = Some(Box::new(list));
        self.ops |= 1 << abi::OP_LIST_DIR;
        self
    }

    /// Adds what is to be done once before the first request: filling caches, parsing, calling what is slow the first
    /// time. Every request finds what it left in statics. It has no services to call.
    #[must_use]
    pub fn warm(mut self, warm: impl Fn() + 'static) -> Self {
        self.warm.push(Box::new(warm));
        self
    }

    pub(crate) fn run_warm(&self) {
        self.warm.iter().for_each(|warm| warm());
    }

    /// Reports whether an operation is served.
    pub(crate) fn serves(&self, op: u32) -> bool {
        op < u32::BITS && self.ops & 1 << op != 0
    }

    /// Finds a template by its text.
    pub(crate) fn template(&self, text: &str) -> Option<&Route> {
        self.templates.iter().find(|route| route.entry.uri == text)
    }

    /// Finds who answers for a URI the host routed.
    pub(crate) fn find(&self, number: u32, uri: &str) -> Option<&Route> {
        if number > 0 {
            return self.templates.get(number as usize - 1);
        }
        match self.position(uri) {
            Ok(at) => Some(&self.resources[self.by_uri[at]]),
            Err(_) => self.any.as_ref(),
        }
    }

    /// Finds a resource in `by_uri`; an error is where it would be.
    fn position(&self, uri: &str) -> Result<usize, usize> {
        self.by_uri.binary_search_by(|&i| self.resources[i].entry.uri.as_str().cmp(uri))
    }

    /// Adds the fields of the manifest.
    pub(crate) fn encode(&self, manifest: &mut Encoder) {
        manifest.text(2, &self.name);
        manifest.text(3, &self.version);
        manifest.text(4, &self.title);
        manifest.text(5, &self.description);
        for route in &self.templates {
            manifest.message(6, |template| route.encode_template(template));
        }
        for route in &self.resources {
            manifest.message(7, |resource| route.entry.encode(resource, false));
        }
        manifest.number(8, self.ops.into());
        for capability in &self.capabilities {
            manifest.message(9, |message| capability.encode(message));
        }
        self.encode_limits(manifest);
        for prefix in &self.prefixes {
            manifest.element(11, prefix.as_bytes());
        }
        manifest.text(12, SDK);
        manifest.text(13, &self.config_schema);
    }

    fn encode_limits(&self, manifest: &mut Encoder) {
        let numbers = [
            self.memory / MEMORY_PAGE + u64::from(self.memory % MEMORY_PAGE > 0),
            millis(self.deadline),
            self.max_body,
            self.max_instances.into(),
            self.lifecycle.into(),
        ];
        if numbers == [0; 5] {
            return;
        }
        manifest.message(10, |limits| {
            (1..).zip(numbers).for_each(|(field, number)| limits.number(field, number));
        });
    }
}

/// A power the provider asks the operator for. The reason is shown to the person who decides.
///
/// ```
/// use wasmres::{Capability, Provider};
///
/// let provider = Provider::new("project", "1.0.0").ask(Capability::new("fs", "reads the project's files"));
/// ```
#[derive(Clone, Debug, Default)]
pub struct Capability {
    name: String,
    params: String,
    optional: bool,
    reason: String,
}

impl Capability {
    /// Makes a wish for a power.
    #[must_use]
    pub fn new(name: impl Into<String>, reason: impl Into<String>) -> Self {
        Capability { name: name.into(), reason: reason.into(), ..Capability::default() }
    }

    /// Says that the provider is of use without this power.
    #[must_use]
    pub fn optional(mut self) -> Self {
        self.optional = true;
        self
    }

    /// Sets a JSON object that says more.
    #[must_use]
    pub fn params(mut self, json: impl Into<String>) -> Self {
        self.params = json.into();
        self
    }

    fn encode(&self, message: &mut Encoder) {
        message.text(1, &self.name);
        message.text(2, &self.params);
        message.flag(3, self.optional);
        message.text(4, &self.reason);
    }
}
