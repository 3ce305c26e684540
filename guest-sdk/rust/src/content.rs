//! What a read answers.

use std::borrow::Cow;
use std::fmt;
use std::io::{Read, Seek, SeekFrom};
use std::time::SystemTime;

use crate::time::stamp;
use crate::wire::Encoder;
use crate::{abi, Folder, Range, Request, Result};

/// One piece of what a read answers. Its methods give it back changed, so that they chain.
///
/// ```
/// use wasmres::Content;
///
/// let table = Content::text("a,b\n1,2\n").mime("text/csv").etag("\"7\"");
/// ```
pub struct Content {
    uri: String,
    mime: String,
    etag: String,
    last_modified: String,
    meta: String,
    text: bool,
    pub(crate) body: Body,
    size: u64,
    total: u64,
}

/// Where the bytes of a content are.
pub(crate) enum Body {
    /// The asker has them already.
    Unmodified,
    Memory(Cow<'static, [u8]>),
    Stream(Box<dyn Read>),
    Seekable(Box<dyn ReadSeek>),
}

pub(crate) trait ReadSeek: Read + Seek {}

impl<T: Read + Seek> ReadSeek for T {}

impl Content {
    fn new(text: bool, body: Body) -> Self {
        Content {
            uri: String::new(),
            mime: String::new(),
            etag: String::new(),
            last_modified: String::new(),
            meta: String::new(),
            text,
            body,
            size: 0,
            total: 0,
        }
    }

    /// Makes a content of text.
    #[must_use]
    pub fn text(text: impl Into<Cow<'static, str>>) -> Self {
        let bytes = match text.into() {
            Cow::Borrowed(text) => Cow::Borrowed(text.as_bytes()),
            Cow::Owned(text) => Cow::Owned(text.into_bytes()),
        };
        Content::new(true, Body::Memory(bytes))
    }

    /// Makes a binary content.
    #[must_use]
    pub fn bytes(bytes: impl Into<Cow<'static, [u8]>>) -> Self {
        Content::new(false, Body::Memory(bytes.into()))
    }

    /// Makes a binary content of all that `reader` gives, without holding it in memory; [`Content::utf8`] makes it
    /// text. Tell how many bytes that are with [`Content::size`], if you know. The host's limits hold for streams too:
    /// by default 64 MiB and 2 s for a read.
    ///
    /// ```
    /// use std::io::{self, Read};
    /// use wasmres::{Content, Request, Result};
    ///
    /// fn zeros(r: &Request) -> Result<Content> {
    ///     let size = r.parse("size")?;
    ///     Ok(Content::stream(io::repeat(0).take(size)).size(size))
    /// }
    /// ```
    #[must_use]
    pub fn stream(reader: impl Read + 'static) -> Self {
        Content::new(false, Body::Stream(Box::new(reader)))
    }

    /// Is [`Content::stream`] for readers that can seek, as a [`File`](crate::File). It always begins at the beginning,
    /// finds the size out by itself, and where the [`Route`](crate::Route) says `ranges`, just the part that is asked
    /// for is read. A size of 0 says nothing, as of a file of `/proc`: then the reader is read to its end.
    #[must_use]
    pub fn seekable(reader: impl Read + Seek + 'static) -> Self {
        Content::new(false, Body::Seekable(Box::new(reader)))
    }

    /// Answers that what the asker has, [`Request::if_none_match`], is current.
    #[must_use]
    pub fn not_modified(etag: impl Into<String>) -> Self {
        Content::new(false, Body::Unmodified).etag(etag)
    }

    /// Says that the bytes are UTF-8 text. Text that is not fails the read.
    #[must_use]
    pub fn utf8(mut self) -> Self {
        self.text = true;
        self
    }

    /// Names the resource this content is of; without it, it is the one that was asked for.
    #[must_use]
    pub fn uri(mut self, uri: impl Into<String>) -> Self {
        self.uri = uri.into();
        self
    }

    /// Sets the type; without it the one of the [`Route`](crate::Route) counts.
    #[must_use]
    pub fn mime(mut self, mime: impl Into<String>) -> Self {
        self.mime = mime.into();
        self
    }

    /// Tells how many bytes a stream has.
    #[must_use]
    pub fn size(mut self, bytes: u64) -> Self {
        self.size = bytes;
        self
    }

    /// Names this version of the content, as in `"7"` with the quotation marks. A sole content with the etag the asker
    /// has is answered without its bytes.
    #[must_use]
    pub fn etag(mut self, etag: impl Into<String>) -> Self {
        self.etag = etag.into();
        self
    }

    /// Tells when the content changed last.
    #[must_use]
    pub fn last_modified(mut self, time: SystemTime) -> Self {
        self.last_modified = stamp(time);
        self
    }

    /// Sets the `_meta` of the content, a JSON object.
    #[must_use]
    pub fn meta(mut self, json: impl Into<String>) -> Self {
        self.meta = json.into();
        self
    }

    /// Says that the content is just the range that was asked for, out of `total` bytes: see [`Request::range`].
    #[must_use]
    pub fn range_of(mut self, total: u64) -> Self {
        self.total = total;
        self
    }

    /// Leaves the bytes out when the asker has this version.
    pub(crate) fn compare(&mut self, if_none_match: &str) {
        if !self.etag.is_empty() && self.etag == if_none_match {
            self.body = Body::Unmodified;
        }
    }

    /// Gives how many bytes there are; 0 when unknown.
    pub(crate) fn length(&self) -> u64 {
        match &self.body {
            Body::Memory(bytes) => bytes.len() as u64,
            _ => self.size,
        }
    }

    /// Finds the size of a body that can seek, and goes to its beginning.
    pub(crate) fn measure(&mut self) -> Result<()> {
        if let Body::Seekable(reader) = &mut self.body {
            self.size = reader.seek(SeekFrom::End(0))?;
            reader.seek(SeekFrom::Start(0))?;
        }
        Ok(())
    }

    /// Reduces a measured binary content to the range that is asked for, if it can. Text, and a stream that cannot
    /// seek, are answered whole.
    pub(crate) fn cut(&mut self, range: Range) -> Result<()> {
        if self.text || self.total != 0 {
            return Ok(());
        }
        let total = self.length();
        if total == 0 {
            return Ok(()); // or unknown
        }
        let start = range.offset.min(total);
        let length = range.length.unwrap_or(u64::MAX).min(total - start);
        match std::mem::replace(&mut self.body, Body::Unmodified) {
            Body::Memory(bytes) => {
                let part = start as usize..(start + length) as usize; // both at most the length of bytes
                self.body = Body::Memory(match bytes {
                    Cow::Borrowed(bytes) => Cow::Borrowed(&bytes[part]),
                    Cow::Owned(bytes) => Cow::Owned(bytes[part].to_vec()),
                });
            }
            Body::Seekable(mut reader) => {
                reader.seek(SeekFrom::Start(start))?;
                self.body = Body::Stream(Box::new(reader.take(length)));
            }
            other => {
                self.body = other;
                return Ok(());
            }
        }
        self.size = length;
        self.total = total;
        Ok(())
    }

    /// Adds what is known about the content; its bytes only when they are to be inline. `mime` is the type of the
    /// route; empty for none.
    pub(crate) fn encode(&self, reply: &mut Encoder, request: &Request, mime: &str, inline: bool) {
        let unmodified = matches!(self.body, Body::Unmodified);
        reply.message(3, |content| {
            content.text(1, first([&self.uri, request.uri(), ""]));
            if !unmodified {
                let usual = if self.text { "text/plain" } else { "application/octet-stream" };
                content.text(2, first([&self.mime, mime, usual]));
            }
            match &self.body {
                Body::Unmodified => {}
                Body::Memory(bytes) if inline => content.element(if self.text { 3 } else { 4 }, bytes),
                _ => {
                    content.number(5, if self.text { abi::KIND_TEXT } else { abi::KIND_BLOB }.into());
                    content.number(6, self.length());
                }
            }
            content.text(7, &self.etag);
            content.text(8, &self.last_modified);
            content.text(9, &self.meta);
            content.flag(10, unmodified);
            content.number(11, self.total);
        });
    }
}

fn first(texts: [&str; 3]) -> &str {
    texts.into_iter().find(|text| !text.is_empty()).unwrap_or("")
}

impl fmt::Debug for Content {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Content")
            .field("uri", &self.uri)
            .field("mime", &self.mime)
            .field("text", &self.text)
            .field("size", &self.length())
            .finish_non_exhaustive()
    }
}

/// What a handler may answer a read with: a string is text, bytes are binary, a [`Content`] says more about itself, and
/// a vector of them answers several at once, and a [`Folder`] its files. `None` and no content at all mean not found.
///
/// ```
/// use wasmres::{Request, Result};
///
/// fn capital(r: &Request) -> Result<Option<&'static str>> {
///     Ok(match r.var("country") {
///         "France" => Some("Paris"),
///         "Japan" => Some("Tokyo"),
///         _ => None,
///     })
/// }
/// ```
pub trait Readable {
    /// Gives the contents.
    fn into_contents(self) -> Contents;
}

/// The contents a read answers: see [`Readable`].
#[derive(Debug)]
pub struct Contents(pub(crate) Several);

#[derive(Debug)]
pub(crate) enum Several {
    One(Content),
    Many(Vec<Content>),
    Folder(Box<Folder>),
}

impl Readable for Content {
    fn into_contents(self) -> Contents {
        Contents(Several::One(self))
    }
}

impl Readable for Folder {
    fn into_contents(self) -> Contents {
        Contents(Several::Folder(Box::new(self)))
    }
}

impl Readable for Vec<Content> {
    fn into_contents(self) -> Contents {
        Contents(Several::Many(self))
    }
}

impl<T: Readable> Readable for Option<T> {
    fn into_contents(self) -> Contents {
        self.map_or(Contents(Several::Many(Vec::new())), T::into_contents)
    }
}

macro_rules! readable {
    ($($type:ty => $make:ident),*) => {$(
        impl Readable for $type {
            fn into_contents(self) -> Contents {
                Content::$make(self).into_contents()
            }
        }
    )*};
}

readable!(String => text, &'static str => text, Cow<'static, str> => text);
readable!(Vec<u8> => bytes, &'static [u8] => bytes, Cow<'static, [u8]> => bytes);

impl<const N: usize> Readable for &'static [u8; N] {
    fn into_contents(self) -> Contents {
        Content::bytes(&self[..]).into_contents()
    }
}
