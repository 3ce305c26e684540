//! The services that keep values.

use std::collections::BTreeMap;
use std::time::{Duration, SystemTime};

use crate::kv::Request;
use crate::wire::{Decoded, Encoder, Fields};
use crate::{abi, Code};

/// How many entries one answer has at most: few, so that a second one is usual.
const PAGE: u64 = 4;

/// Values by key.
#[derive(Default)]
pub(super) struct Store {
    values: BTreeMap<String, Stored>,
    newest: u64, // version
}

struct Stored {
    bytes: Vec<u8>,
    expires: Option<SystemTime>,
    version: u64,
}

impl Store {
    pub(super) fn put(&mut self, key: String, bytes: Vec<u8>, expires: Option<SystemTime>) {
        self.newest += 1;
        self.values.insert(key, Stored { bytes, expires, version: self.newest });
    }

    pub(super) fn values(&self) -> BTreeMap<String, Vec<u8>> {
        self.values.iter().map(|(key, value)| (key.clone(), value.bytes.clone())).collect()
    }

    /// Answers one of the key-value services at a time, and gives the bytes beside the message.
    pub(super) fn answer(&mut self, service: u32, request: &[u8], now: SystemTime) -> Result<(Encoder, Vec<u8>), Code> {
        let asked = decode(request).expect("a request is well formed");
        if service != abi::SERVICE_KV_LIST && !is_key(asked.key) || asked.if_absent && asked.if_version != 0 {
            return Err(Code::InvalidParams);
        }
        self.values.retain(|_, value| value.expires.map_or(true, |expires| expires > now));
        let mut response = Encoder::default();
        match service {
            abi::SERVICE_KV_LIST => self.list(&asked, &mut response),
            abi::SERVICE_KV_GET => {
                let bytes = self.values.get(asked.key).ok_or(Code::NotFound)?.bytes.clone();
                self.describe(asked.key, &mut response);
                return Ok((response, bytes));
            }
            _ => self.change(service, &asked, now, &mut response),
        }
        Ok((response, Vec::new()))
    }

    /// Puts or deletes a value, unless a condition does not hold.
    fn change(&mut self, service: u32, asked: &Request, now: SystemTime, response: &mut Encoder) {
        let version = self.values.get(asked.key).map(|value| value.version);
        let conflict =
            asked.if_absent && version.is_some() || asked.if_version != 0 && version != Some(asked.if_version);
        if !conflict && service == abi::SERVICE_KV_PUT {
            let expires = Some(asked.ttl_ms).filter(|&ttl| ttl > 0).map(|ttl| now + Duration::from_millis(ttl));
            self.put(asked.key.to_owned(), asked.value.to_vec(), expires);
        } else if !conflict {
            self.values.remove(asked.key);
        }
        self.describe(asked.key, response);
        response.flag(3, conflict);
    }

    fn list(&self, asked: &Request, response: &mut Encoder) {
        let limit = if asked.limit == 0 { PAGE } else { asked.limit.min(PAGE) };
        let keys = self.values.keys().map(String::as_str);
        let mut keys = keys.filter(|key| *key > asked.after && key.starts_with(asked.prefix));
        keys.by_ref().take(limit as usize).for_each(|key| self.describe(key, response));
        response.flag(2, keys.next().is_some());
    }

    /// Adds what is known of a value, if there is one.
    fn describe(&self, key: &str, response: &mut Encoder) {
        let value = match self.values.get(key) {
            Some(value) => value,
            None => return,
        };
        let expires = value.expires.and_then(|time| time.duration_since(SystemTime::UNIX_EPOCH).ok());
        response.message(1, |entry| {
            entry.text(1, key);
            entry.number(2, value.bytes.len() as u64);
            entry.number(3, expires.map_or(0, |time| time.as_millis() as u64));
            entry.number(4, value.version);
        });
    }
}

fn decode(message: &[u8]) -> Decoded<Request<'_>> {
    let mut request = Request::default();
    for field in Fields::of(message) {
        let field = field?;
        match field.number {
            1 => request.key = field.text()?,
            2 => request.value = field.bytes()?,
            3 => request.ttl_ms = field.u64()?,
            4 => request.if_version = field.u64()?,
            5 => request.if_absent = field.flag()?,
            6 => request.prefix = field.text()?,
            7 => request.after = field.text()?,
            8 => request.limit = field.u64()?,
            _ => {}
        }
    }
    Ok(request)
}

fn is_key(key: &str) -> bool {
    !key.is_empty() && key.len() <= abi::MAX_KEY as usize && !key.contains(char::is_control)
}
