//! A host whose answers to service calls are written down, well formed or not.

use std::cell::Cell;
use std::rc::Rc;

use crate::abi;

/// One answer: its code, the message, and the bytes beside it.
pub(crate) type Answer<'a> = (u32, &'a [u8], &'a [u8]);

/// More calls than any test needs: who makes them would go on for ever.
const CALLS_MAX: usize = 100;

/// Runs `f` with a host that gives these answers one after the other, and then the last one again.
pub(crate) fn answering<T>(answers: &[Answer<'_>], f: impl FnOnce() -> T) -> T {
    let answers = answers.iter().map(|answer| (answer.0, answer.1.to_vec(), answer.2.to_vec())).collect();
    super::with(Rc::new(Script { answers, calls: Cell::new(0) }), f)
}

struct Script {
    answers: Vec<(u32, Vec<u8>, Vec<u8>)>,
    calls: Cell<usize>,
}

impl super::Host for Script {
    fn take(&self, channel: u32, offset: u32, dst: &mut [u8]) -> usize {
        let at = self.calls.get().min(self.answers.len());
        let (_, message, bytes) = &self.answers[at - 1];
        let source = if channel == abi::CHANNEL_RESPONSE { message } else { bytes };
        let source = source.get(offset as usize..).unwrap_or(&[]);
        let size = source.len().min(dst.len());
        dst[..size].copy_from_slice(&source[..size]);
        size
    }

    fn call(&self, _: u32, _: &[u8]) -> (u32, u32) {
        self.calls.set(self.calls.get() + 1);
        assert!(self.calls.get() <= CALLS_MAX, "the calls do not end");
        let (code, message, _) = &self.answers[self.calls.get().min(self.answers.len()) - 1];
        (*code, message.len() as u32)
    }

    fn emit(&self, _: &[u8]) -> i32 {
        abi::SIGNAL_MORE
    }

    fn body(&self, _: &[u8]) -> i32 {
        abi::SIGNAL_MORE
    }

    fn log(&self, _: u32, _: &str) {}

    fn info(&self, _: u32) -> i64 {
        0
    }
}
