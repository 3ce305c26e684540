//! The services that fetch URLs.

use std::time::Duration;

use crate::http::decode_header;
use crate::wire::{Decoded, Encoder, Fields};
use crate::{Code, Result};

/// How many bytes of a body one answer has at most: few, so that a second one is usual.
const PART: usize = 4 << 10;

/// Answers what the provider asks of servers: see [`Host::http`](super::Host::http).
pub(super) type Server = dyn Fn(&HttpRequest) -> Result<HttpResponse>;

/// What a provider asks of a server: see [`Host::http`](super::Host::http).
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct HttpRequest {
    /// The method, in capitals.
    pub method: String,
    /// The URL.
    pub url: String,
    /// Names and values of the header, as the provider wrote them.
    pub headers: Vec<(String, String)>,
    /// The body.
    pub body: Vec<u8>,
    /// How many bytes the body of the answer may have; 0 when the provider does not say.
    pub max_bytes: u64,
    /// How long it may take; zero when the provider does not say.
    pub timeout: Duration,
}

impl HttpRequest {
    /// Gives the value of the first field of that name, in either case.
    pub fn header(&self, name: &str) -> Option<&str> {
        self.headers.iter().find(|field| field.0.eq_ignore_ascii_case(name)).map(|field| field.1.as_str())
    }

    fn decode(message: &[u8]) -> Decoded<Self> {
        let mut request = HttpRequest { method: "GET".to_owned(), ..HttpRequest::default() };
        for field in Fields::of(message) {
            let field = field?;
            match field.number {
                1 => request.method = field.text()?.to_owned(),
                2 => request.url = field.text()?.to_owned(),
                3 => request.headers.push(decode_header(field.bytes()?)?),
                4 => request.body = field.bytes()?.to_vec(),
                5 => request.max_bytes = field.u64()?,
                6 => request.timeout = Duration::from_millis(field.u32()?.into()),
                _ => {}
            }
        }
        Ok(request)
    }
}

/// What a server answers a provider. Its methods give it back changed, so that they chain.
#[derive(Clone, Debug, Default)]
#[must_use]
pub struct HttpResponse {
    status: u16,
    url: String,
    headers: Vec<(String, String)>,
    body: Vec<u8>,
}

impl HttpResponse {
    /// Makes a response with a status, as 200, and nothing else.
    pub fn new(status: u16) -> Self {
        HttpResponse { status, ..HttpResponse::default() }
    }

    /// Sets the URL that answered; without it, it is the one that was asked.
    pub fn url(mut self, url: impl Into<String>) -> Self {
        self.url = url.into();
        self
    }

    /// Adds a field to the header.
    pub fn header(mut self, name: impl Into<String>, value: impl Into<String>) -> Self {
        self.headers.push((name.into(), value.into()));
        self
    }

    /// Sets the body.
    pub fn body(mut self, body: impl Into<Vec<u8>>) -> Self {
        self.body = body.into();
        self
    }

    fn encode(&self, asked: &str, response: &mut Encoder) {
        response.number(1, self.status.into());
        for (name, value) in &self.headers {
            response.message(2, |field| {
                field.text(1, name);
                field.text(2, value);
            });
        }
        response.text(3, if self.url.is_empty() { asked } else { &self.url });
    }
}

/// The bodies of one call, each with what is yet to be asked for. The number of a stream is the index plus one.
#[derive(Default)]
pub(super) struct Bodies(Vec<Body>);

struct Body {
    bytes: Vec<u8>,
    sent: usize,
    max: u64,
}

impl Bodies {
    /// Has a request answered, and gives the message and the beginning of the body.
    pub(super) fn fetch(&mut self, server: &Server, request: &[u8]) -> Result<(Encoder, Vec<u8>), Code> {
        let asked = HttpRequest::decode(request).expect("a request is well formed");
        let answer = server(&asked).map_err(|error| error.code())?;
        let mut response = Encoder::default();
        answer.encode(&asked.url, &mut response);
        let max = if asked.max_bytes == 0 { u64::MAX } else { asked.max_bytes };
        self.0.push(Body { bytes: answer.body, sent: 0, max });
        let stream = self.0.len() as u64;
        let (part, more) = self.part(stream)?;
        response.number(4, if more { stream } else { 0 });
        Ok((response, part))
    }

    /// Gives the next part of a body, and the message that goes with it.
    pub(super) fn next(&mut self, request: &[u8]) -> Result<(Encoder, Vec<u8>), Code> {
        let stream = decode_stream(request).expect("a request is well formed");
        let (part, more) = self.part(stream)?;
        let mut response = Encoder::default();
        response.flag(1, more);
        Ok((response, part))
    }

    fn part(&mut self, stream: u64) -> Result<(Vec<u8>, bool), Code> {
        let body = usize::try_from(stream).ok().and_then(|stream| self.0.get_mut(stream.checked_sub(1)?));
        let body = body.ok_or(Code::NotFound)?;
        let end = body.bytes.len().min(body.sent + PART);
        if end as u64 > body.max {
            return Err(Code::TooLarge);
        }
        let part = body.bytes[body.sent..end].to_vec();
        body.sent = end;
        Ok((part, end < body.bytes.len()))
    }
}

/// Gives the number of the stream that is asked for.
pub(super) fn decode_stream(request: &[u8]) -> Decoded<u64> {
    let mut stream = 0;
    for field in Fields::of(request) {
        let field = field?;
        if field.number == 1 {
            stream = field.u64()?;
        }
    }
    Ok(stream)
}
