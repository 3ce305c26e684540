//! The file services, for files in memory.

use std::collections::BTreeMap;

use super::call::Asked;
use crate::wire::Encoder;
use crate::{abi, Code};

/// The files of a directory, by name.
pub(super) type Files = BTreeMap<String, Vec<u8>>;

/// How many entries one answer has at most: few, so that a second one is usual.
const PAGE: usize = 4;

/// How many bytes one answer has at most.
const READ_MAX: u64 = 1 << 20;

/// What a path leads to.
enum Node<'a> {
    File(&'a [u8]),
    Folder(BTreeMap<&'a str, Node<'a>>),
}

/// Answers one of the file services, and gives the bytes beside the message.
pub(super) fn answer(
    dirs: &BTreeMap<String, Files>,
    service: u32,
    asked: &Asked,
    response: &mut Encoder,
) -> Result<Vec<u8>, Code> {
    let (files, path) =
        dirs.iter().find_map(|(dir, files)| Some((files, below(dir, &asked.name)?))).ok_or(Code::Denied)?;
    let node = find(files, path)?;
    let name = asked.name.rsplit('/').next().unwrap_or("");
    match (service, &node) {
        (abi::SERVICE_FILE_STAT, _) => {
            node.encode(name, response);
            Ok(Vec::new())
        }
        (abi::SERVICE_FILE_READ, Node::File(bytes)) => {
            node.encode(name, response);
            Ok(part(bytes, asked.offset, asked.length))
        }
        (abi::SERVICE_FILE_LIST, Node::Folder(entries)) => {
            let mut entries = entries.iter().filter(|entry| *entry.0 > asked.after.as_str());
            entries.by_ref().take(PAGE).for_each(|(name, node)| node.encode(name, response));
            response.flag(2, entries.next().is_some());
            Ok(Vec::new())
        }
        _ => Err(Code::InvalidParams),
    }
}

/// Gives the part of a path that is below a directory; empty for the directory itself.
fn below<'a>(dir: &str, path: &'a str) -> Option<&'a str> {
    let rest = path.strip_prefix(dir.trim_end_matches('/'))?;
    if rest.is_empty() {
        return Some(rest);
    }
    rest.strip_prefix('/')
}

fn find<'a>(files: &'a Files, path: &str) -> Result<Node<'a>, Code> {
    if let Some(bytes) = files.get(path) {
        return Ok(Node::File(bytes));
    }
    let mut entries = BTreeMap::new();
    for (name, bytes) in files {
        let rest = if path.is_empty() { Some(name.as_str()) } else { below(path, name) };
        match rest.map(|rest| rest.split_once('/').map_or((rest, ""), |(folder, rest)| (folder, rest))) {
            Some((file, "")) => drop(entries.insert(file, Node::File(bytes))),
            Some((folder, _)) => drop(entries.insert(folder, Node::Folder(BTreeMap::new()))),
            None => {}
        }
    }
    if entries.is_empty() && !path.is_empty() {
        return Err(Code::NotFound);
    }
    Ok(Node::Folder(entries))
}

fn part(bytes: &[u8], offset: u64, length: u64) -> Vec<u8> {
    let length = if length == 0 { READ_MAX } else { length.min(READ_MAX) };
    let start = offset.min(bytes.len() as u64);
    let end = start.saturating_add(length).min(bytes.len() as u64);
    bytes[start as usize..end as usize].to_vec()
}

impl Node<'_> {
    fn encode(&self, name: &str, response: &mut Encoder) {
        response.message(1, |file| {
            file.text(1, name);
            match self {
                Node::File(bytes) => file.number(2, bytes.len() as u64),
                Node::Folder(_) => file.flag(4, true),
            }
        });
    }
}
