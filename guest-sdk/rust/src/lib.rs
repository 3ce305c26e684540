//! The guest SDK for providers of MCP resources that run in wasmres, a sandbox for WebAssembly.
//!
//! A provider is a library with a function that says what it serves:
//!
//! ```
//! use wasmres::{Entry, Error, Page, Provider, Request, Result, Route};
//!
//! const NOTES: [(&str, &str); 2] = [("ada", "Engines"), ("grace", "Compilers")];
//!
//! fn provider() -> Provider {
//!     let note = Route::template("notes://by/{author}", note)
//!         .name("note")
//!         .mime("text/plain")
//!         .complete_from("author", ["ada", "grace"]);
//!     Provider::new("notes", "1.0.0")
//!         .describe("Notes and who wrote them.")
//!         .route(Route::resource("notes://readme", |_| Ok("# Notes")).mime("text/markdown"))
//!         .route(note)
//!         .list(list)
//! }
//!
//! fn note(r: &Request) -> Result<&'static str> {
//!     let author = r.var("author");
//!     match NOTES.iter().find(|note| note.0 == author) {
//!         Some(note) => Ok(note.1),
//!         None => Err(Error::not_found(format!("no note by {author}"))),
//!     }
//! }
//!
//! fn list(_: &Request, page: &mut Page) -> Result<()> {
//!     page.each(NOTES.len(), |i| Entry::new(format!("notes://by/{}", NOTES[i].0)))
//! }
//!
//! wasmres::export!(provider);
//!
//! // In a test, natively:
//! let host = wasmres::testing::Host::new(provider());
//! assert_eq!(host.text("notes://by/ada"), "Engines");
//! assert_eq!(host.list().len(), 3);
//! ```
//!
//! It is built as a `cdylib` for the target `wasm32-unknown-unknown`, and tested natively, with `cargo test` and the
//! module `testing`, which is there in native builds only.
//!
//! # What a handler answers
//!
//! A string is text, bytes are binary; a [`Content`] says more about itself, and a vector of them answers several at
//! once. [`Content::stream`] sends what a reader gives without holding it in memory. JSON-RPC, base64 and the matching
//! of URIs are the host's business.
//!
//! # What a handler may rely on
//!
//! Every request finds the provider as it was when it had started: built, and warmed up by [`Provider::warm`]. What a
//! handler keeps in a static is gone at the next request. One request runs at a time, and there are no threads. Of the
//! standard library, files, sockets and threads only give errors in WebAssembly, and `SystemTime::now` and
//! `Instant::now` panic: use [`Dir`] and [`Request::now`]. The seeds of hash maps are always the same ones.
//!
//! A panic is logged and ends the call; the client learns no more than that. Nothing is granted unless the operator
//! says so: see [`Provider::ask`], then [`Dir`], [`http`], [`sql`], [`kv`], [`Request::config`] and [`Request::env`].

#![deny(missing_docs)]
#![deny(unsafe_code)]
#![deny(unsafe_op_in_unsafe_fn)]

mod abi;
mod content;
mod entry;
mod error;
#[doc(hidden)]
pub mod export;
mod fs;
#[cfg(test)]
mod golden;
mod host;
pub mod http;
pub mod kv;
mod list;
mod log;
mod notify;
mod out;
mod provider;
pub mod redact;
mod request;
mod route;
mod serve;
pub mod sql;
#[cfg(not(target_arch = "wasm32"))]
pub mod testing;
mod time;
mod value;
mod wire;

pub use content::{Content, Contents, Readable};
pub use entry::{Audience, Entry, Icon};
pub use error::{Code, Error, Result};
pub use fs::{Dir, Entries, File, Folder, Metadata};
pub use list::{Page, DIRECTORY_TYPE};
pub use log::{log, Level};
pub use notify::{notify_list_changed, notify_updated};
pub use provider::{Capability, Provider};
pub use request::{Principal, Range, Request};
pub use route::Route;
