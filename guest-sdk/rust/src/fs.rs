//! Files of directories the operator granted.

mod folder;
mod message;

use std::io::{self, Read, Seek, SeekFrom};
use std::time::SystemTime;

use crate::time::from_millis;
use crate::wire::{Decoded, Fields, Malformed};
use crate::{abi, host, Code, Error};

pub use folder::Folder;
pub(crate) use message::Request;

/// How many bytes of a file one service call fetches.
const READ_MAX: usize = 64 << 10;

/// How many bytes are read to memory of a file whose size is told as 0.
const SIZELESS_MAX: usize = 16 << 20;

/// A directory the operator granted. It needs the power `fs`: see [`Capability`](crate::Capability).
///
/// Names are relative and clean, with slashes: a name that is empty, or has a part that is empty, `.` or `..`, is
/// [`io::ErrorKind::InvalidInput`]; only `.` alone is the directory itself. Links that lead out of it, devices and the
/// like are not found.
///
/// ```
/// use wasmres::{Content, Dir, Request, Result};
///
/// fn note(r: &Request) -> Result<Content> {
///     let file = Dir::new("/notes").open(r.var("name"))?; // a missing file is "not found"
///     Ok(Content::seekable(file).utf8())
/// }
/// ```
///
/// What is written is there for whoever reads it later, in other requests too. [`Error`](crate::Error), into which `?`
/// turns what fails, is
///
/// - [`Code::Denied`](crate::Code::Denied) where the operator did not grant writing, as `--dir FOLDER:/notes:rw` does;
/// - [`Code::InvalidParams`](crate::Code::InvalidParams) for the directory itself, for a folder where a file belongs or
///   the other way round, and for a folder to remove that is not empty;
/// - [`Code::TooLarge`](crate::Code::TooLarge) when one call has more than 1 MiB, of which the path takes a little, and
///   when the provider has added more than it may: 256 MiB, or 10,000 files and folders, since it was loaded;
/// - [`Code::Unavailable`](crate::Code::Unavailable) when the disk is full.
///
/// ```
/// use wasmres::{Dir, Request, Result};
///
/// fn seen(r: &Request) -> Result<String> {
///     let log = Dir::new("/notes").append("log/seen.txt", format!("{}\n", r.var("name")))?;
///     Ok(format!("The log has {} bytes.", log.len()))
/// }
/// ```
///
/// In native tests [`Host::dir`](crate::testing::Host::dir) and
/// [`Host::writable_dir`](crate::testing::Host::writable_dir) have the files.
#[derive(Clone, Debug)]
pub struct Dir {
    path: String,
}

impl Dir {
    /// Names a directory by its path as the provider sees it, as in `/project`. Nothing is asked of the host.
    #[must_use]
    pub fn new(path: impl Into<String>) -> Self {
        let mut path = path.into();
        path.truncate(path.trim_end_matches('/').len());
        Dir { path }
    }

    /// Opens a file for reading. Wrap it in a [`std::io::BufReader`] where it is read in small pieces: each costs a
    /// call of the host.
    pub fn open(&self, name: &str) -> io::Result<File> {
        let metadata = self.metadata(name)?;
        if metadata.dir {
            return Err(io::Error::new(io::ErrorKind::InvalidInput, "this is a folder"));
        }
        Ok(File { path: self.join(name)?, metadata, offset: 0 })
    }

    /// Reads a whole file. One whose size is told as 0 may have bytes all the same, as those of `/proc` have: it is read
    /// to its end, and is [`Code::TooLarge`](crate::Code::TooLarge) beyond 16 MiB.
    pub fn read(&self, name: &str) -> io::Result<Vec<u8>> {
        let path = self.join(name)?;
        let mut bytes = Vec::new();
        let mut size = READ_MAX as u64; // at first
        loop {
            let read = bytes.len();
            let rest = size.saturating_sub(read as u64).min(READ_MAX as u64) as usize;
            if rest == 0 {
                return Ok(bytes);
            }
            bytes.resize(read + rest, 0);
            let (copied, metadata) = read_at(&path, &mut bytes[read..], read as u64)?;
            bytes.truncate(read + copied);
            if copied == 0 {
                return Ok(bytes);
            }
            size = if metadata.len > 0 { metadata.len } else { u64::MAX };
            if metadata.len == 0 && bytes.len() > SIZELESS_MAX {
                return Err(Error::new(Code::TooLarge, "").into());
            }
        }
    }

    /// Reads a whole file that is UTF-8 text; other bytes are [`io::ErrorKind::InvalidData`].
    pub fn read_to_string(&self, name: &str) -> io::Result<String> {
        String::from_utf8(self.read(name)?).map_err(|error| io::Error::new(io::ErrorKind::InvalidData, error))
    }

    /// Looks at a file or folder.
    pub fn metadata(&self, name: &str) -> io::Result<Metadata> {
        Request { path: &self.join(name)?, ..Request::default() }.ask(abi::SERVICE_FILE_STAT)?.one()
    }

    /// Lists a folder, by name: files and folders, page by page as they are needed.
    ///
    /// ```
    /// use wasmres::{Dir, Request, Result};
    ///
    /// fn names(_: &Request) -> Result<String> {
    ///     let mut names = String::new();
    ///     for entry in Dir::new("/notes").entries(".")? {
    ///         names += entry?.name();
    ///         names += "\n";
    ///     }
    ///     Ok(names)
    /// }
    /// ```
    pub fn entries(&self, name: &str) -> io::Result<Entries> {
        self.entries_after(name, "")
    }

    /// Is [`Dir::entries`] from the first name after `after` on, as from the cursor of a [`Page`](crate::Page).
    pub fn entries_after(&self, name: &str, after: impl Into<String>) -> io::Result<Entries> {
        let mut entries = Entries { path: self.join(name)?, page: Vec::new().into_iter(), after: None };
        entries.fetch(after.into())?;
        Ok(entries)
    }

    /// Answers a read with the files of a folder, each as a content of its own, in the order of their names. The URI of a
    /// file is `uri_prefix` and its path in this directory, percent-encoded. Folders in the folder are passed over. A file
    /// is in memory only while it is sent.
    ///
    /// A file is text when it is UTF-8 without zeros, unless its type is one of audio, fonts, images (SVG aside), videos,
    /// `application/gzip`, `application/pdf`, `application/wasm` or `application/zip`. Its etag is made of its time of
    /// change and its size.
    ///
    /// Left out are files beyond the bounds, which others after them may keep; those that are gone, or may not be read,
    /// when their turn has come; and names that no URI can have. Then, and if there are no files, one more content comes
    /// last, with the URI that was asked for. Its text says how many files are left out, and its `_meta`, as the member
    /// `folder`, why: `{"files":1,"bytes":5,"leftOut":{"files":1,"bytes":7,"names":["a"],"reasons":{"gone":1}}}`. There are
    /// no more than ten names. The reasons are `maxFiles`, `maxBytes`, `gone`, `denied` and `name`. At most 10,000 entries
    /// of a folder are looked at: `leftOut` says `"more":true` where there are others.
    ///
    /// ```
    /// use std::time::Duration;
    /// use wasmres::{Dir, Folder, Request, Result, Route};
    ///
    /// fn folder(r: &Request) -> Result<Folder> {
    ///     Ok(Dir::new("/notes").folder(r.var("path"), "notes:///")?.max_files(50))
    /// }
    ///
    /// let route = Route::template("notes:///{+path}/", folder)
    ///     .watch(Duration::from_secs(2), |r| Ok(Dir::new("/notes").folder(r.var("path"), "")?.version()?));
    /// ```
    pub fn folder(&self, name: &str, uri_prefix: impl Into<String>) -> io::Result<Folder> {
        Folder::new(self.clone(), name, uri_prefix.into())
    }

    /// Puts a file there, in place of the one that there may be, and describes it. This is done at once: who reads the
    /// file sees what it had or all of `bytes`, and when it fails, the file is as it was. The folders it is in are
    /// made.
    pub fn write(&self, name: &str, bytes: impl AsRef<[u8]>) -> io::Result<Metadata> {
        self.put(name, bytes.as_ref(), false)
    }

    /// Puts bytes at the end of a file, beside what others append at the same time, and describes it. The file, and
    /// the folders it is in, are made.
    pub fn append(&self, name: &str, bytes: impl AsRef<[u8]>) -> io::Result<Metadata> {
        self.put(name, bytes.as_ref(), true)
    }

    /// Removes a file, or an empty folder.
    pub fn remove(&self, name: &str) -> io::Result<()> {
        Request { path: &self.join(name)?, ..Request::default() }.ask(abi::SERVICE_FILE_REMOVE)?;
        Ok(())
    }

    fn put(&self, name: &str, data: &[u8], append: bool) -> io::Result<Metadata> {
        let request = Request { path: &self.join(name)?, data, append, ..Request::default() };
        request.ask(abi::SERVICE_FILE_WRITE)?.one()
    }

    /// Gives the path of a name, if that is clean.
    fn join(&self, name: &str) -> io::Result<String> {
        if name == "." {
            return Ok(if self.path.is_empty() { "/".to_owned() } else { self.path.clone() });
        }
        if name.split('/').any(|part| matches!(part, "" | "." | "..")) {
            return Err(io::Error::new(io::ErrorKind::InvalidInput, "a name with a part that is empty, . or .."));
        }
        Ok([&self.path, "/", name].concat())
    }
}

/// What is known of a file or folder.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Metadata {
    name: String,
    len: u64,
    modified_ms: i64,
    dir: bool,
}

impl Metadata {
    /// Gives the last part of the path.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Gives the size of a file in bytes.
    #[allow(clippy::len_without_is_empty)] // as std::fs::Metadata
    pub fn len(&self) -> u64 {
        self.len
    }

    /// Reports whether it is a folder.
    pub fn is_dir(&self) -> bool {
        self.dir
    }

    /// Gives the time of the last change.
    pub fn modified(&self) -> SystemTime {
        from_millis(self.modified_ms)
    }

    fn decode(message: &[u8]) -> Decoded<Self> {
        let mut metadata = Metadata::default();
        for field in Fields::of(message) {
            let field = field?;
            match field.number {
                1 => metadata.name = field.text()?.to_owned(),
                2 => metadata.len = field.u64()?,
                3 => metadata.modified_ms = field.u64()? as i64,
                4 => metadata.dir = field.flag()?,
                _ => {}
            }
        }
        Ok(metadata)
    }
}

/// A file that is read piece by piece. The host keeps nothing open: a file that changes meanwhile is read as it is
/// then.
#[derive(Clone, Debug)]
pub struct File {
    path: String,
    metadata: Metadata,
    offset: u64,
}

impl File {
    /// Gives what was known of the file when it was opened.
    pub fn metadata(&self) -> &Metadata {
        &self.metadata
    }
}

impl Read for File {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let (copied, _) = read_at(&self.path, buffer, self.offset)?;
        self.offset += copied as u64;
        Ok(copied)
    }
}

impl Seek for File {
    /// The end is where it was when the file was opened.
    fn seek(&mut self, to: SeekFrom) -> io::Result<u64> {
        let (base, delta) = match to {
            SeekFrom::Start(offset) => (offset, 0),
            SeekFrom::Current(delta) => (self.offset, delta),
            SeekFrom::End(delta) => (self.metadata.len, delta),
        };
        let offset = if delta < 0 { base.checked_sub(delta.unsigned_abs()) } else { base.checked_add(delta as u64) };
        self.offset = offset.ok_or(io::ErrorKind::InvalidInput)?;
        Ok(self.offset)
    }
}

/// The entries of a folder: see [`Dir::entries`].
#[derive(Debug)]
pub struct Entries {
    path: String,
    page: std::vec::IntoIter<Metadata>,
    after: Option<String>, // the last name of the page, when there are more
}

impl Entries {
    fn fetch(&mut self, after: String) -> io::Result<()> {
        let request = Request { path: &self.path, after: &after, ..Request::default() };
        let answer = request.ask(abi::SERVICE_FILE_LIST)?;
        let last = answer.files.last().map(|last| last.name.clone());
        if answer.more && last.as_ref().map_or(true, |last| *last <= after) {
            return Err(Malformed.into()); // it would go on for ever
        }
        self.after = last.filter(|_| answer.more);
        self.page = answer.files.into_iter();
        Ok(())
    }

    /// Reports whether there are entries to come, as far as that is known.
    fn has_more(&self) -> bool {
        self.page.len() > 0 || self.after.is_some()
    }
}

impl Iterator for Entries {
    type Item = io::Result<Metadata>;

    fn next(&mut self) -> Option<Self::Item> {
        loop {
            if let Some(entry) = self.page.next() {
                return Some(Ok(entry));
            }
            let after = self.after.take()?;
            if let Err(error) = self.fetch(after) {
                return Some(Err(error));
            }
        }
    }
}

/// Fetches bytes of a file, at most [`READ_MAX`]; none at its end. It also tells what is known of the file.
fn read_at(path: &str, buffer: &mut [u8], offset: u64) -> io::Result<(usize, Metadata)> {
    let wanted = buffer.len().min(READ_MAX);
    if wanted == 0 {
        return Ok((0, Metadata::default())); // length 0 would ask for as much as there is
    }
    let request = Request { path, offset, length: wanted as u64, ..Request::default() };
    let metadata = request.ask(abi::SERVICE_FILE_READ)?.one()?;
    Ok((host::take(abi::CHANNEL_BODY, 0, &mut buffer[..wanted]), metadata))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::host::script::answering;

    const A: &[u8] = b"\x0a\x03\x0a\x01a";
    const B: &[u8] = b"\x0a\x03\x0a\x01b";
    const MORE: &[u8] = b"\x10\x01";

    /// Gives the names that are listed, and "!" for an error.
    fn listed(answers: &[&[&[u8]]]) -> String {
        let pages: Vec<Vec<u8>> = answers.iter().map(|fields| fields.concat()).collect();
        let answers: Vec<_> = pages.iter().map(|page| (0, &page[..], &b""[..])).collect();
        answering(&answers, || match Dir::new("/d").entries(".") {
            Ok(entries) => entries.map(|entry| entry.map_or("!".to_owned(), |entry| entry.name)).collect(),
            Err(_) => "!".to_owned(),
        })
    }

    #[test]
    fn listings_end() {
        assert_eq!(listed(&[&[A, MORE], &[B, MORE], &[]]), "ab");
        assert_eq!(listed(&[&[A, B, MORE], &[B, MORE]]), "ab!"); // it stands still
        assert_eq!(listed(&[&[A, MORE], &[MORE]]), "a!"); // there is more after nothing
        assert_eq!(listed(&[&[A, MORE], &[b"\x0a\x01\x0a"]]), "a!");
        assert_eq!(listed(&[&[MORE]]), "!");
    }

    #[test]
    fn answers_that_make_no_sense_are_refused() {
        let two = [A, B].concat();
        for message in [&b""[..], b"\x0a", b"\x0a\x03\x0a\x02a", b"\x0a\x01\x10", b"\x08\x01", &two, MORE] {
            let fails = |f: fn(&Dir) -> io::Result<Metadata>| {
                answering(&[(0, message, b"")], || Error::from(f(&Dir::new("/d")).unwrap_err()).code())
            };
            assert_eq!(fails(|dir| dir.metadata("f")), Code::Internal, "metadata: {:x?}", message);
            assert_eq!(fails(|dir| dir.write("f", "")), Code::Internal, "write: {:x?}", message);
            assert_eq!(fails(|dir| dir.append("f", "")), Code::Internal, "append: {:x?}", message);
        }
        for message in [&b"\x0a"[..], b"\x0a\x03\x0a\x02a", b"\x0a\x01\x10", b"\x08\x01"] {
            let removed = answering(&[(0, message, b"")], || Dir::new("/d").remove("f"));
            assert_eq!(Error::from(removed.unwrap_err()).code(), Code::Internal, "remove: {:x?}", message);
        }
    }

    #[test]
    fn one_call_has_1_mib_at_most() {
        let write = |size| {
            let dir = Dir::new("/d");
            answering(&[(0, A, b"")], || dir.write("f", vec![0; size]).map(drop).map_err(|e| Error::from(e).code()))
        };
        assert_eq!(write((1 << 20) - 10), Ok(())); // six bytes of a path and its length, four of one
        assert_eq!(write((1 << 20) - 9), Err(Code::TooLarge));
        assert_eq!(write(2 << 20), Err(Code::TooLarge));
    }
}
