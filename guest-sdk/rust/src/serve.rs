//! Operations, and who answers them.

use crate::content::Several;
use crate::list::{self, scope};
use crate::out::Out;
use crate::time::millis;
use crate::{abi, host, Code, Provider, Request, Result, Route};

/// How many values MCP allows in one answer of a completion.
const MAX_COMPLETIONS: usize = 100;

/// Runs one operation whose request has `size` bytes and gives the code it ends with.
pub(crate) fn serve(provider: &Provider, op: u32, size: u32) -> u32 {
    if !provider.serves(op) {
        return abi::CODE_UNSUPPORTED;
    }
    if size > abi::MAX_REQUEST {
        return abi::CODE_INVALID_PARAMS;
    }
    let message = host::fetch(abi::CHANNEL_REQUEST, size);
    let mut out = Out::new();
    let result = match Request::decode(&message) {
        Ok(request) => run(provider, op, &request, &mut out),
        Err(malformed) => Err(malformed.into()),
    };
    out.finish(result)
}

fn run(provider: &Provider, op: u32, request: &Request, out: &mut Out) -> Result<()> {
    match op {
        abi::OP_DESCRIBE => {
            out.reply.message(9, |manifest| provider.encode(manifest));
            Ok(())
        }
        abi::OP_LIST => list::run(out, request, provider.list.as_ref().ok_or(Code::Unsupported)?),
        abi::OP_LIST_DIR => list::run(out, request, provider.list_directory.as_ref().ok_or(Code::Unsupported)?),
        abi::OP_COMPLETE => complete(provider.template(request.uri()).ok_or(Code::NotFound)?, request, out),
        _ => {
            let route = provider.find(request.route, request.uri()).ok_or(Code::NotFound)?;
            follow(route, op, request, out)
        }
    }
}

/// Runs an operation on a resource.
fn follow(route: &Route, op: u32, request: &Request, out: &mut Out) -> Result<()> {
    match op {
        abi::OP_READ => read(route, request, out),
        abi::OP_SUBSCRIBE => {
            out.reply.number(14, route.watch.as_ref().map_or(0, |watch| millis(watch.every)));
            Ok(())
        }
        abi::OP_POLL => poll(route, request, out),
        _ => Err(Code::Unsupported.into()),
    }
}

fn read(route: &Route, request: &Request, out: &mut Out) -> Result<()> {
    let mut contents = (route.read)(request)?.0;
    let contents = match &mut contents {
        Several::One(content) => std::slice::from_mut(content),
        Several::Many(contents) => contents.as_mut_slice(),
        Several::Folder(folder) => {
            put_cache(route, out);
            return folder.send(request, out);
        }
    };
    match contents {
        [] => return Err(Code::NotFound.into()),
        [sole] => sole.compare(request.if_none_match()),
        _ => {}
    }
    put_cache(route, out);
    contents.iter_mut().try_for_each(|content| out.content(content, request, route))
}

fn put_cache(route: &Route, out: &mut Out) {
    out.reply.number(10, millis(route.ttl));
    out.reply.number(11, scope(route.public));
}

/// Answers with the etag alone, never with bytes.
fn poll(route: &Route, request: &Request, out: &mut Out) -> Result<()> {
    let watch = route.watch.as_ref().ok_or(Code::Unsupported)?;
    let etag = (watch.version)(request)?;
    let unmodified = !etag.is_empty() && etag == request.if_none_match();
    out.reply.message(3, |content| {
        content.text(1, request.uri());
        content.text(7, &etag);
        content.flag(10, unmodified);
    });
    Ok(())
}

/// Answers with no value at all for a variable nobody completes.
fn complete(route: &Route, request: &Request, out: &mut Out) -> Result<()> {
    let completer = match route.completer(request.argument) {
        Some(completer) => completer,
        None => return Ok(()),
    };
    let mut count = 0;
    completer(request, request.prefix, &mut |value| {
        if count < MAX_COMPLETIONS {
            out.reply.element(6, value.as_bytes());
            let _ = out.flush_if_full(); // a signal is kept, and ends the operation
        }
        count += 1;
    })?;
    out.reply.number(7, u64::try_from(count).unwrap_or(u64::MAX));
    out.reply.flag(8, count > MAX_COMPLETIONS);
    Ok(())
}

#[cfg(test)]
mod tests {
    use std::cell::{Cell, RefCell};
    use std::io;
    use std::rc::Rc;

    use super::*;
    use crate::wire::Fields;
    use crate::{Content, Entry};

    /// A host that gives a signal from one push on.
    struct Stopping {
        request: &'static [u8],
        after: usize, // this many pushes are well
        signal: i32,
        pushes: Cell<usize>,
        emitted: RefCell<Vec<u8>>,
    }

    impl Stopping {
        fn push(&self) -> i32 {
            self.pushes.set(self.pushes.get() + 1);
            if self.pushes.get() > self.after {
                return self.signal;
            }
            abi::SIGNAL_MORE
        }
    }

    impl host::Host for Stopping {
        fn take(&self, _: u32, _: u32, dst: &mut [u8]) -> usize {
            dst.copy_from_slice(self.request);
            dst.len()
        }
        fn emit(&self, frame: &[u8]) -> i32 {
            self.emitted.borrow_mut().extend_from_slice(frame);
            self.push()
        }
        fn body(&self, _: &[u8]) -> i32 {
            self.push()
        }
        fn call(&self, _: u32, _: &[u8]) -> (u32, u32) {
            (abi::CODE_DENIED, 0)
        }
        fn log(&self, _: u32, _: &str) {}
        fn info(&self, _: u32) -> i64 {
            1
        }
    }

    fn run(provider: &Provider, op: u32, request: &'static [u8], after: usize, signal: i32) -> (u32, Rc<Stopping>) {
        let stopping = Rc::new(Stopping { request, after, signal, pushes: Cell::new(0), emitted: RefCell::default() });
        let code = host::with(Rc::<Stopping>::clone(&stopping), || serve(provider, op, request.len() as u32));
        (code, stopping)
    }

    #[test]
    fn streams_stop_when_they_are_told() {
        let endless = Route::any(|_| Ok(Content::stream(io::repeat(0))));
        let provider = Provider::new("test", "1.0.0").route(endless);
        for (signal, want) in [(-1, 5), (-2, 6), (-3, 7), (-4, 9), (-9, 5), (1, 0), (7, 0)] {
            for after in [0, 1, 5] {
                let (code, host) = run(&provider, abi::OP_READ, b"\x0a\x05t://a", after, signal);
                assert_eq!((code, host.pushes.get()), (want, after + 1), "signal {}", signal);
            }
        }
    }

    #[test]
    fn a_signal_counts_whatever_the_handler_makes_of_it() {
        let heedless = Route::any(|r| {
            r.progress(1.0, 2.0, "");
            assert!(r.check().is_err());
            Ok("done")
        });
        let provider = Provider::new("test", "1.0.0").route(heedless);
        let (code, host) = run(&provider, abi::OP_READ, b"\x0a\x05t://a", 0, abi::SIGNAL_CANCELLED);
        assert_eq!((code, host.pushes.get()), (abi::CODE_CANCELLED, 1));
    }

    #[test]
    fn a_full_page_says_where_to_go_on() {
        let provider = Provider::new("test", "1.0.0")
            .list(|_, page| page.each(10_000, |i| Entry::new(["t://", &i.to_string(), &"x".repeat(100)].concat())));
        let (code, host) = run(&provider, abi::OP_LIST, b"\x28\xff\xff\x03", 1, abi::SIGNAL_ENOUGH);
        assert_eq!(code, abi::CODE_OK);
        let emitted = host.emitted.borrow();
        let fields: Vec<_> = Fields::of(&emitted).map(|field| field.unwrap()).collect();
        let (cursor, entries) = fields.split_last().unwrap();
        assert!(entries.len() > 50 && entries.iter().all(|entry| entry.number == 1));
        assert_eq!((cursor.number, cursor.text()), (4, Ok(entries.len().to_string().as_str())));
    }
}
