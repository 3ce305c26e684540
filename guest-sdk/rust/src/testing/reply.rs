//! What a provider emitted.

use std::time::Duration;

use crate::abi;
use crate::wire::{Decoded, Fields};

/// One piece of what a read answered.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Content {
    /// The resource it is of.
    pub uri: String,
    /// Its type.
    pub mime: String,
    /// Whether it is text; otherwise it is binary.
    pub is_text: bool,
    /// All its bytes.
    pub bytes: Vec<u8>,
    /// The version; empty when it has no name.
    pub etag: String,
    /// When it changed last, as RFC 3339 has it; empty when unknown.
    pub last_modified: String,
    /// The `_meta`, a JSON object; empty for none.
    pub meta: String,
    /// The asker has this version.
    pub not_modified: bool,
    /// How many bytes the whole has, when this is a range of it; otherwise 0.
    pub range_of: u64,
}

/// One resource of a list.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Entry {
    /// The URI; of a template its text.
    pub uri: String,
    /// The short name.
    pub name: String,
    /// The name people see; empty for none.
    pub title: String,
    /// What is to be found there; empty for nothing.
    pub description: String,
    /// The type of the contents; empty when unknown.
    pub mime: String,
    /// The size in bytes; 0 when unknown.
    pub size: u64,
    pub(super) ranges: bool,
}

/// Everything that was emitted in one call.
#[derive(Default)]
pub(super) struct Reply {
    pub(super) entries: Vec<Entry>,
    pub(super) contents: Vec<Content>,
    pub(super) next_cursor: String,
    pub(super) message: String,
    pub(super) data: String,
    pub(super) retry_after: Duration,
    pub(super) completions: Vec<String>,
    pub(super) poll: Duration,
    pub(super) templates: Vec<Entry>,
    pub(super) resources: Vec<Entry>,
}

impl Reply {
    pub(super) fn merge(&mut self, frame: &[u8]) -> Decoded<()> {
        for field in Fields::of(frame) {
            let field = field?;
            match field.number {
                1 => self.entries.push(Entry::decode(field.bytes()?)?),
                3 => self.contents.push(Content::decode(field.bytes()?)?),
                4 => self.next_cursor = field.text()?.to_owned(),
                5 => self.merge_error(field.bytes()?)?,
                6 => self.completions.push(field.text()?.to_owned()),
                9 => self.merge_manifest(field.bytes()?)?,
                14 => self.poll = Duration::from_millis(field.u64()?),
                _ => {}
            }
        }
        Ok(())
    }

    fn merge_error(&mut self, message: &[u8]) -> Decoded<()> {
        for field in Fields::of(message) {
            let field = field?;
            match field.number {
                1 => self.message = field.text()?.to_owned(),
                2 => self.data = field.text()?.to_owned(),
                3 => self.retry_after = Duration::from_millis(field.u64()?),
                _ => {}
            }
        }
        Ok(())
    }

    fn merge_manifest(&mut self, message: &[u8]) -> Decoded<()> {
        for field in Fields::of(message) {
            let field = field?;
            match field.number {
                6 => self.templates.push(Entry::decode(field.bytes()?)?),
                7 => self.resources.push(Entry::decode(field.bytes()?)?),
                _ => {}
            }
        }
        Ok(())
    }
}

impl Content {
    fn decode(message: &[u8]) -> Decoded<Self> {
        let mut content = Content::default();
        for field in Fields::of(message) {
            let field = field?;
            match field.number {
                1 => content.uri = field.text()?.to_owned(),
                2 => content.mime = field.text()?.to_owned(),
                3 => {
                    content.is_text = true;
                    content.bytes = field.bytes()?.to_vec();
                }
                4 => content.bytes = field.bytes()?.to_vec(),
                5 => content.is_text = field.u32()? == abi::KIND_TEXT,
                7 => content.etag = field.text()?.to_owned(),
                8 => content.last_modified = field.text()?.to_owned(),
                9 => content.meta = field.text()?.to_owned(),
                10 => content.not_modified = field.flag()?,
                11 => content.range_of = field.u64()?,
                _ => {}
            }
        }
        Ok(content)
    }
}

impl Entry {
    fn decode(message: &[u8]) -> Decoded<Self> {
        let mut entry = Entry::default();
        for field in Fields::of(message) {
            let field = field?;
            match field.number {
                1 => entry.uri = field.text()?.to_owned(),
                2 => entry.name = field.text()?.to_owned(),
                3 => entry.title = field.text()?.to_owned(),
                4 => entry.description = field.text()?.to_owned(),
                5 => entry.mime = field.text()?.to_owned(),
                6 => entry.size = field.u64()?,
                13 => entry.ranges = field.flag()?,
                _ => {}
            }
        }
        Ok(entry)
    }
}
