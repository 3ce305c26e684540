//! The host of one running operation.

use std::cell::{Cell, RefCell};
use std::collections::BTreeMap;
use std::rc::Rc;
use std::time::{Duration, Instant, SystemTime};

use super::files::Dirs;
use super::http::{Bodies, Server};
use super::kv::Store;
use super::reply::Reply;
use super::sql::{Cursors, Database};
use super::Heard;
use crate::host::Host;
use crate::wire::{Decoded, Encoder, Fields};
use crate::{abi, Code, Error, Level, Result};

/// What a test has set.
#[derive(Clone)]
pub(super) struct Settings {
    pub(super) config: BTreeMap<String, String>,
    pub(super) server: Option<Rc<Server>>,
    pub(super) databases: BTreeMap<String, Rc<Database>>,
    pub(super) kv: bool,
    pub(super) principal: Option<(String, String)>,
    pub(super) now: Option<SystemTime>,
    pub(super) time_left: Duration,
    pub(super) max_body: u64,
    pub(super) page_size: u32,
    started: Instant,
}

impl Default for Settings {
    fn default() -> Self {
        Settings {
            config: BTreeMap::new(),
            server: None,
            databases: BTreeMap::new(),
            kv: false,
            principal: None,
            now: None,
            time_left: Duration::from_secs(60),
            max_body: 64 << 20,
            page_size: 0,
            started: Instant::now(),
        }
    }
}

pub(super) struct Call {
    settings: Rc<Settings>,
    heard: Rc<RefCell<Heard>>,
    dirs: Rc<RefCell<Dirs>>,
    store: Rc<RefCell<Store>>,
    bodies: RefCell<Bodies>,
    cursors: RefCell<Cursors>,
    request: Vec<u8>,
    response: RefCell<Vec<u8>>, // of the last service call
    bytes: RefCell<Vec<u8>>,    // likewise
    reply: RefCell<Reply>,
    too_large: Cell<bool>,
}

impl Call {
    pub(super) fn new(
        request: Vec<u8>,
        settings: Rc<Settings>,
        heard: Rc<RefCell<Heard>>,
        dirs: Rc<RefCell<Dirs>>,
        store: Rc<RefCell<Store>>,
    ) -> Self {
        Call {
            settings,
            heard,
            dirs,
            store,
            bodies: RefCell::default(),
            cursors: RefCell::default(),
            request,
            response: RefCell::default(),
            bytes: RefCell::default(),
            reply: RefCell::default(),
            too_large: Cell::default(),
        }
    }

    /// Gives what the call came to.
    pub(super) fn end(&self, code: u32) -> Result<Reply> {
        if self.too_large.get() {
            return Err(Code::TooLarge.into());
        }
        let reply = self.reply.take();
        if code != abi::CODE_OK {
            let code = Code::from_number(code).unwrap_or(Code::Internal);
            let error = Error::new(code, reply.message).data(reply.data);
            return Err(error.after(reply.retry_after));
        }
        for content in reply.contents.iter().filter(|content| content.is_text) {
            assert!(std::str::from_utf8(&content.bytes).is_ok(), "the text of {} is not UTF-8", content.uri);
        }
        Ok(reply)
    }

    fn now(&self) -> SystemTime {
        self.settings.now.unwrap_or_else(SystemTime::now)
    }

    fn signal(&self) -> i32 {
        let total: u64 = self.reply.borrow().contents.iter().map(|content| content.bytes.len() as u64).sum();
        self.too_large.set(self.too_large.get() || total > self.settings.max_body);
        if self.too_large.get() {
            return abi::SIGNAL_TOO_LARGE;
        }
        abi::SIGNAL_MORE
    }

    /// Answers a service call with the message and the bytes beside it.
    fn answer(&self, service: u32, request: &[u8]) -> Result<(Encoder, Vec<u8>), Code> {
        match service {
            abi::SERVICE_KV_GET..=abi::SERVICE_KV_LIST if self.settings.kv => {
                self.store.borrow_mut().answer(service, request, self.now())
            }
            abi::SERVICE_FILE_STAT..=abi::SERVICE_FILE_LIST | abi::SERVICE_FILE_WRITE | abi::SERVICE_FILE_REMOVE => {
                self.dirs.borrow_mut().answer(service, request, self.now())
            }
            abi::SERVICE_HTTP => {
                let server = self.settings.server.as_deref().ok_or(Code::Denied)?;
                self.bodies.borrow_mut().fetch(server, request)
            }
            abi::SERVICE_STREAM => self.bodies.borrow_mut().next(request),
            abi::SERVICE_SQL => {
                let database = |connection: &str| self.settings.databases.get(connection).cloned();
                Ok((self.cursors.borrow_mut().query(database, request)?, Vec::new()))
            }
            abi::SERVICE_SQL_ROWS => Ok((self.cursors.borrow_mut().next(request)?, Vec::new())),
            _ => self.answer_by_name(service, request),
        }
    }

    /// Answers one of the services that are asked for something with a name, which is a key or a URI.
    fn answer_by_name(&self, service: u32, request: &[u8]) -> Result<(Encoder, Vec<u8>), Code> {
        let name = decode_name(request).unwrap_or_else(|_| panic!("a malformed request to service {}", service));
        let mut response = Encoder::default();
        match service {
            abi::SERVICE_CONFIG => {
                response.text(1, self.settings.config.get(&name).ok_or(Code::NotFound)?);
            }
            abi::SERVICE_NOTIFY_UPDATED | abi::SERVICE_NOTIFY_LIST => {
                self.heard.borrow_mut().notices.push(name);
            }
            _ => return Err(Code::Denied),
        }
        Ok((response, Vec::new()))
    }
}

fn decode_name(request: &[u8]) -> Decoded<String> {
    let mut name = String::new();
    for field in Fields::of(request) {
        let field = field?;
        if field.number == 1 {
            name = field.text()?.to_owned();
        }
    }
    Ok(name)
}

impl Host for Call {
    fn take(&self, channel: u32, offset: u32, dst: &mut [u8]) -> usize {
        let (response, bytes) = (self.response.borrow(), self.bytes.borrow());
        let source = match channel {
            abi::CHANNEL_REQUEST => &self.request,
            abi::CHANNEL_RESPONSE => &*response,
            abi::CHANNEL_BODY => &*bytes,
            other => panic!("channel {} is unknown", other),
        };
        let source = source.get(offset as usize..).unwrap_or(&[]);
        let size = source.len().min(dst.len());
        dst[..size].copy_from_slice(&source[..size]);
        size
    }

    fn emit(&self, frame: &[u8]) -> i32 {
        assert!(frame.len() <= abi::MAX_FRAME as usize, "a frame of {} bytes", frame.len());
        self.reply.borrow_mut().merge(frame).expect("a frame is well formed");
        self.signal()
    }

    fn body(&self, bytes: &[u8]) -> i32 {
        self.reply.borrow_mut().contents.last_mut().expect("bytes follow a content").bytes.extend_from_slice(bytes);
        self.signal()
    }

    fn call(&self, service: u32, request: &[u8]) -> (u32, u32) {
        let (code, response, bytes) = match self.answer(service, request) {
            Ok((response, bytes)) => (abi::CODE_OK, response.as_bytes().to_vec(), bytes),
            Err(code) => (code.number(), Vec::new(), Vec::new()),
        };
        let size = response.len() as u32;
        self.response.replace(response);
        self.bytes.replace(bytes);
        (code, size)
    }

    fn log(&self, level: u32, line: &str) {
        let level = match level {
            abi::LOG_DEBUG => Level::Debug,
            abi::LOG_INFO => Level::Info,
            abi::LOG_WARN => Level::Warn,
            _ => Level::Error,
        };
        self.heard.borrow_mut().logs.push((level, line.to_owned()));
    }

    fn info(&self, id: u32) -> i64 {
        let duration = match id {
            abi::INFO_WALL_TIME => self.now().duration_since(SystemTime::UNIX_EPOCH).unwrap_or(Duration::ZERO),
            abi::INFO_MONOTONIC => self.settings.started.elapsed(),
            abi::INFO_DEADLINE => self.settings.time_left,
            other => panic!("nobody asks for info {}", other),
        };
        i64::try_from(duration.as_nanos()).unwrap_or(i64::MAX)
    }
}
