//! Lists, page by page.

use std::time::Duration;

use crate::out::Out;
use crate::time::millis;
use crate::{abi, Entry, Error, Request, Result};

/// How many entries a page has when the host leaves it to the guest.
const DEFAULT_LIMIT: usize = 500;

/// The MIME type of a directory resource.
pub const DIRECTORY_TYPE: &str = abi::DIRECTORY_TYPE;

/// Takes the entries of one page of a list: see [`Provider::list`](crate::Provider::list) and
/// [`Provider::list_directory`](crate::Provider::list_directory).
///
/// [`Page::each`] is enough for what can be counted. Others keep a cursor of their own:
///
/// ```
/// use wasmres::{Entry, Page, Request, Result};
///
/// const WORDS: [&str; 3] = ["alpha", "beta", "gamma"]; // in order
///
/// fn words(_: &Request, page: &mut Page) -> Result<()> {
///     let from = WORDS.partition_point(|word| *word < page.cursor());
///     for word in &WORDS[from..] {
///         if !page.add(Entry::new(format!("words://{word}"))) {
///             page.next(*word);
///             break;
///         }
///     }
///     Ok(())
/// }
/// ```
pub struct Page<'a> {
    out: &'a mut Out,
    cursor: &'a str,
    limit: usize,
    count: usize,
    full: bool,
    next: String,
    ttl: Duration,
    public: bool,
}

impl Page<'_> {
    /// Gives where to go on: what an earlier page was given by [`Page::next`]; empty at the start. A client can make
    /// one up, so fail with [`Error::invalid`] where it makes no sense.
    pub fn cursor(&self) -> &str {
        self.cursor
    }

    /// Gives how many entries fit.
    pub fn limit(&self) -> usize {
        self.limit
    }

    /// Puts an entry on the page. The answer is `false` when the page is full and the entry is not on it: give
    /// [`Page::next`] a cursor that leads to this entry, and return.
    #[must_use = "when the page is full, the entry is not on it"]
    pub fn add(&mut self, entry: Entry) -> bool {
        if self.is_full() {
            return false;
        }
        self.out.reply.message(1, |message| entry.encode(message, false));
        self.count += 1;
        self.full = self.out.flush_if_full().is_err();
        true
    }

    /// Sets the cursor that leads to the following page. Without it this page is the last one.
    pub fn next(&mut self, cursor: impl Into<String>) {
        self.next = cursor.into();
    }

    /// Says how long the page may be kept, by clients, and by the host if it is public.
    pub fn ttl(&mut self, time: Duration) {
        self.ttl = time;
    }

    /// Says that the page may be given to anybody, not only to who asked: with a [`Page::ttl`], the host keeps it, and
    /// asks again when that is over or the list has changed.
    pub fn public(&mut self) {
        self.public = true;
    }

    /// Lists the entries 0 to `count` − 1, minding cursor and limit. A cursor that is not its own is invalid.
    pub fn each(&mut self, count: usize, mut entry: impl FnMut(usize) -> Entry) -> Result<()> {
        for i in self.start(count)?..count {
            if self.is_full() || !self.add(entry(i)) {
                self.next(i.to_string());
                break;
            }
        }
        Ok(())
    }

    /// Gives the first entry of this page when the cursor is a number.
    fn start(&self, count: usize) -> Result<usize> {
        if self.cursor.is_empty() {
            return Ok(0);
        }
        match self.cursor.parse() {
            Ok(start) if start <= count => Ok(start),
            _ => Err(Error::invalid("unknown cursor")),
        }
    }

    fn is_full(&self) -> bool {
        self.full || self.count >= self.limit
    }
}

/// Answers one list with a handler.
pub(crate) fn run(
    out: &mut Out,
    request: &Request,
    list: impl FnOnce(&Request, &mut Page) -> Result<()>,
) -> Result<()> {
    let limit = match request.limit {
        0 => DEFAULT_LIMIT,
        limit => limit as usize,
    };
    let mut page = Page {
        out,
        cursor: request.cursor,
        limit,
        count: 0,
        full: false,
        next: String::new(),
        ttl: Duration::ZERO,
        public: false,
    };
    list(request, &mut page)?;
    let Page { out, next, ttl, public, .. } = page;
    out.reply.text(4, &next);
    out.reply.number(10, millis(ttl));
    out.reply.number(11, scope(public));
    Ok(())
}

/// Gives the cache scope of what may be given to anybody, or not.
pub(crate) fn scope(public: bool) -> u64 {
    if public { abi::CACHE_PUBLIC } else { abi::CACHE_PRIVATE }.into()
}
