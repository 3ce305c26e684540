//! Requests to servers, by URLs the operator granted. They need the power `http`: see
//! [`Capability`](crate::Capability).
//!
//! ```
//! use wasmres::{http, Content, Request, Result};
//!
//! fn news(_: &Request) -> Result<Content> {
//!     let response = http::get("https://example.org/news.txt")?.error_for_status()?;
//!     Ok(Content::stream(response).utf8()) // goes on to the client while it arrives
//! }
//! ```
//!
//! In native tests [`Host::http`](crate::testing::Host::http) answers them.

use std::fmt;
use std::io::{self, Read};
use std::ops::Range;
use std::time::Duration;

use crate::time::millis;
use crate::wire::{Decoded, Encoder, Fields, Malformed};
use crate::{abi, host, Code, Error, Result};

/// How much room a body has at first, in bytes.
const ROOM: usize = 8 << 10;

/// Fetches a URL: see [`Request::send`].
pub fn get(url: impl Into<String>) -> Result<Response> {
    Request::new("GET", url).send()
}

/// A request to a server. Its methods give it back changed, so that they chain.
///
/// ```
/// use std::time::Duration;
/// use wasmres::{http, Result};
///
/// fn search(query: &str) -> Result<String> {
///     http::Request::new("POST", "https://api.example.org/search")
///         .header("Authorization", "Bearer {{secret:search}}")
///         .body(query)
///         .max_bytes(100_000)
///         .timeout(Duration::from_secs(1))
///         .send()?
///         .error_for_status()?
///         .text()
/// }
/// ```
#[derive(Clone, Debug, Default)]
#[must_use = "nothing is asked before it is sent"]
pub struct Request {
    method: String,
    url: String,
    headers: Vec<(String, String)>,
    body: Vec<u8>,
    max_bytes: u64,
    timeout: Duration,
}

impl Request {
    /// Makes a request with a method, in capitals, and an absolute URL, `http` or `https`.
    pub fn new(method: impl Into<String>, url: impl Into<String>) -> Self {
        Request { method: method.into(), url: url.into(), ..Request::default() }
    }

    /// Adds a field to the header. It is sent as it is, but for `{{secret:NAME}}` in the value: there the host fills a
    /// secret in that the operator granted for the server, and takes it out of what comes back.
    pub fn header(mut self, name: impl Into<String>, value: impl Into<String>) -> Self {
        self.headers.push((name.into(), value.into()));
        self
    }

    /// Sets the body.
    pub fn body(mut self, body: impl Into<Vec<u8>>) -> Self {
        self.body = body.into();
        self
    }

    /// Bounds the body of the answer, in bytes; without it, or with 0, it may have as many as are granted.
    pub fn max_bytes(mut self, bytes: u64) -> Self {
        self.max_bytes = bytes;
        self
    }

    /// Bounds the time for all of it, reading the answer included; without it, or with zero, it may take as long as is
    /// granted.
    pub fn timeout(mut self, time: Duration) -> Self {
        self.timeout = time;
        self
    }

    /// Sends the request and gives the answer, after redirects. A status such as 404 is no error: see
    /// [`Response::error_for_status`].
    ///
    /// # Errors
    ///
    /// [`Code::Denied`] when the operator did not grant this, [`Code::Unavailable`] when there was no answer,
    /// [`Code::Deadline`] when it did not come in time, [`Code::InvalidParams`] when the request makes no sense, and
    /// [`Code::TooLarge`] when it, or the body of the answer, has more bytes than it may have.
    pub fn send(self) -> Result<Response> {
        if self.body.len() > abi::MAX_SERVICE as usize {
            return Err(Code::TooLarge.into());
        }
        let mut request = Encoder::with_capacity(256 + self.body.len());
        self.encode(&mut request);
        let answer = host::ask(abi::SERVICE_HTTP, request.as_bytes())?;
        let mut response = Response::decode(&answer).map_err(host::malformed)?;
        response.receive().map_err(host::malformed)?;
        Ok(response)
    }

    pub(crate) fn encode(&self, request: &mut Encoder) {
        request.text(1, &self.method);
        request.text(2, &self.url);
        for (name, value) in &self.headers {
            request.message(3, |field| {
                field.text(1, name);
                field.text(2, value);
            });
        }
        if !self.body.is_empty() {
            request.element(4, &self.body);
        }
        request.number(5, self.max_bytes);
        request.number(6, millis(self.timeout).min(u32::MAX.into()));
    }
}

/// What a server answered, whatever its status. It is read as its body: what does not fit one answer of the host is
/// fetched while it is read. That lasts until the handler's answer has been sent, so that
/// [`Content::stream`](crate::Content::stream) can have it. A call has at most eight bodies that are not read to their
/// end.
///
/// Reading fails with [`Code::TooLarge`] when the body has more bytes than it may have, with [`Code::Deadline`] when it
/// takes too long, and with [`Code::Unavailable`] when it is cut short. `?` makes these errors out of those of
/// [`std::io`] again.
pub struct Response {
    status: u16,
    headers: Vec<(String, String)>,
    url: String,
    room: Vec<u8>,
    unread: Range<usize>, // of room
    stream: u64,          // by which the host gives the next part; 0 when there is none
    failed: Option<Error>,
}

impl Response {
    /// Gives the status, as 200.
    pub fn status(&self) -> u16 {
        self.status
    }

    /// Gives the URL that answered, after redirects.
    pub fn url(&self) -> &str {
        &self.url
    }

    /// Gives the value of the first field of that name, in either case.
    pub fn header(&self, name: &str) -> Option<&str> {
        self.headers().find(|field| field.0.eq_ignore_ascii_case(name)).map(|field| field.1)
    }

    /// Gives names and values of all fields of the header, as they came.
    pub fn headers(&self) -> impl Iterator<Item = (&str, &str)> + '_ {
        self.headers.iter().map(|(name, value)| (name.as_str(), value.as_str()))
    }

    /// Gives the response back when its status says that the request was successful, 200 to 299. Otherwise it is an
    /// error that a handler may answer, of the class that the status belongs to: 404 and 410 are [`Code::NotFound`],
    /// 401 and 403 [`Code::Denied`], 408, 429 and those from 500 on [`Code::Unavailable`], with the time of
    /// `Retry-After` if that is in seconds, and others [`Code::Internal`]. The message names the status.
    pub fn error_for_status(self) -> Result<Self> {
        let code = match self.status {
            200..=299 => return Ok(self),
            404 | 410 => Code::NotFound,
            401 | 403 => Code::Denied,
            408 | 429 | 500.. => Code::Unavailable,
            _ => Code::Internal,
        };
        let error = Error::new(code, format!("the server answers {}", self.status));
        if code != Code::Unavailable {
            return Err(error);
        }
        let seconds = self.header("Retry-After").and_then(|seconds| seconds.parse::<u32>().ok()).unwrap_or(0);
        Err(error.after(Duration::from_secs(seconds.into())))
    }

    /// Reads the whole body.
    pub fn bytes(mut self) -> Result<Vec<u8>> {
        let mut bytes = Vec::new();
        self.read_to_end(&mut bytes)?;
        Ok(bytes)
    }

    /// Reads the whole body, which is UTF-8; otherwise the error is [`Code::Internal`].
    pub fn text(self) -> Result<String> {
        String::from_utf8(self.bytes()?).map_err(Error::internal)
    }

    pub(crate) fn decode(message: &[u8]) -> Decoded<Self> {
        let mut response = Response {
            status: 0,
            headers: Vec::new(),
            url: String::new(),
            room: Vec::new(),
            unread: 0..0,
            stream: 0,
            failed: None,
        };
        for field in Fields::of(message) {
            let field = field?;
            match field.number {
                1 => response.status = u16::try_from(field.u32()?).map_err(|_| Malformed)?,
                2 => response.headers.push(decode_header(field.bytes()?)?),
                3 => response.url = field.text()?.to_owned(),
                4 => response.stream = field.u64()?,
                _ => {}
            }
        }
        match response.status {
            100..=999 => Ok(response),
            _ => Err(Malformed),
        }
    }

    /// Fetches the next part.
    fn next(&mut self) -> Result<()> {
        let mut request = Encoder::default();
        request.number(1, self.stream);
        let answer = host::ask(abi::SERVICE_STREAM, request.as_bytes())?;
        let more = decode_more(&answer).map_err(host::malformed)?;
        self.receive().map_err(host::malformed)?;
        if !more {
            self.stream = 0;
        }
        Ok(())
    }

    /// Takes over what the host has beside its answer, which is gone with the next service call.
    fn receive(&mut self) -> Decoded<()> {
        let mut end = 0;
        loop {
            if end == self.room.len() {
                self.room.resize(ROOM.max(4 * end), 0);
            }
            end += host::take(abi::CHANNEL_BODY, end as u32, &mut self.room[end..]);
            if end > host::ANSWER_MAX as usize {
                return Err(Malformed);
            }
            if end < self.room.len() {
                self.unread = 0..end;
                return Ok(());
            }
        }
    }
}

impl Read for Response {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        while self.unread.is_empty() && self.stream != 0 {
            if let Some(error) = &self.failed {
                return Err(error.clone().into());
            }
            self.failed = self.next().err();
        }
        let copied = buffer.len().min(self.unread.len());
        let start = self.unread.start;
        self.unread.start += copied;
        buffer[..copied].copy_from_slice(&self.room[start..self.unread.start]);
        Ok(copied)
    }
}

impl fmt::Debug for Response {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Response")
            .field("status", &self.status)
            .field("url", &self.url)
            .field("headers", &self.headers)
            .finish_non_exhaustive()
    }
}

pub(crate) fn decode_header(message: &[u8]) -> Decoded<(String, String)> {
    let mut header = (String::new(), String::new());
    for field in Fields::of(message) {
        let field = field?;
        match field.number {
            1 => header.0 = field.text()?.to_owned(),
            2 => header.1 = field.text()?.to_owned(),
            _ => {}
        }
    }
    Ok(header)
}

/// Gives whether another part follows.
pub(crate) fn decode_more(message: &[u8]) -> Decoded<bool> {
    let mut more = false;
    for field in Fields::of(message) {
        let field = field?;
        if field.number == 1 {
            more = field.flag()?;
        }
    }
    Ok(more)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::host::script::answering;

    /// 200, with stream 1.
    const OPEN: &[u8] = b"\x08\xc8\x01\x20\x01";
    const MORE: &[u8] = b"\x08\x01";

    fn read(answers: &[(u32, &[u8], &[u8])]) -> Result<Vec<u8>> {
        answering(answers, || get("https://example.org")?.bytes())
    }

    #[test]
    fn parts_are_joined() {
        for size in [0, 1, ROOM - 1, ROOM, ROOM + 1, 4 * ROOM, host::ANSWER_MAX as usize] {
            let part: Vec<u8> = (0..size).map(|i| i as u8).collect();
            let got =
                read(&[(0, OPEN, &part), (0, MORE, b"small"), (0, MORE, b""), (0, MORE, &part), (0, b"", b"end")]);
            assert!(got.unwrap() == [&part[..], b"small", &part, b"end"].concat(), "parts of {} bytes", size);
        }
    }

    #[test]
    fn what_fails_stays_failed() {
        let malformed = &b"\x08"[..];
        let large = vec![0; host::ANSWER_MAX as usize + 1];
        let cases = [(7, &b""[..], &b""[..], Code::TooLarge), (77, b"", b"", Code::Internal)];
        let malformed = [(0, malformed, &b"b"[..], Code::Internal), (0, MORE, &large, Code::Internal)];
        for (code, message, bytes, want) in cases.into_iter().chain(malformed) {
            answering(&[(0, OPEN, b"a"), (code, message, bytes), (0, b"", b"c")], || {
                let mut response = get("https://example.org").unwrap();
                let mut body = Vec::new();
                for _ in 0..2 {
                    let error: Error = response.read_to_end(&mut body).unwrap_err().into();
                    assert_eq!((error.code(), &body[..]), (want, &b"a"[..]));
                }
            });
        }
    }

    #[test]
    fn answers_that_make_no_sense_are_refused() {
        for message in [&b""[..], b"\x08\x63", b"\x08\xe8\x07", b"\x08\xc8\x81\x80\x80\x10", b"\x0a\x00", b"\x22\x00"] {
            assert_eq!(read(&[(0, message, b"")]).unwrap_err().code(), Code::Internal, "{:x?}", message);
        }
    }

    #[test]
    fn large_answers_are_refused() {
        let mut message = Encoder::default();
        message.number(1, 200);
        message.element(100, &[0].repeat(host::ANSWER_MAX as usize - 8)); // which nobody knows
        let large = [message.as_bytes(), b"\x20\x00"].concat();
        assert_eq!(message.as_bytes().len(), host::ANSWER_MAX as usize);
        assert_eq!(read(&[(0, message.as_bytes(), b"a")]).unwrap(), b"a");
        let body = [0].repeat(host::ANSWER_MAX as usize + 1);
        for (message, bytes) in [(&large[..], &b""[..]), (OPEN, &body)] {
            assert_eq!(read(&[(0, message, bytes)]).unwrap_err().code(), Code::Internal);
        }
    }

    #[test]
    fn large_requests_are_not_sent() {
        let send = |size| Request::new("POST", "https://example.org").body(vec![0; size]).send();
        for size in [abi::MAX_SERVICE as usize, abi::MAX_SERVICE as usize + 1] {
            assert_eq!(answering(&[], || send(size)).unwrap_err().code(), Code::TooLarge);
        }
    }
}
