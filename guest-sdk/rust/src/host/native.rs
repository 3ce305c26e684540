//! A stand-in for the imports: the host that [`with`] sets for the length of one call.

use std::cell::RefCell;
use std::rc::Rc;

use crate::abi;

/// What the host does.
pub(crate) trait Host {
    fn take(&self, channel: u32, offset: u32, dst: &mut [u8]) -> usize;
    fn emit(&self, frame: &[u8]) -> i32;
    fn body(&self, bytes: &[u8]) -> i32;
    fn call(&self, service: u32, request: &[u8]) -> (u32, u32);
    fn log(&self, level: u32, line: &str);
    fn info(&self, id: u32) -> i64;
}

thread_local! {
    static CURRENT: RefCell<Option<Rc<dyn Host>>> = RefCell::new(None);
}

/// Runs `f` with a host.
pub(crate) fn with<T>(host: Rc<dyn Host>, f: impl FnOnce() -> T) -> T {
    struct Restore(Option<Rc<dyn Host>>);
    impl Drop for Restore {
        fn drop(&mut self) {
            CURRENT.with(|current| *current.borrow_mut() = self.0.take());
        }
    }
    let _restore = Restore(CURRENT.with(|current| current.borrow_mut().replace(host)));
    f()
}

fn ask<T>(otherwise: T, f: impl FnOnce(&dyn Host) -> T) -> T {
    match CURRENT.with(|current| current.borrow().clone()) {
        Some(host) => f(&*host),
        None => otherwise,
    }
}

pub(crate) fn take(channel: u32, offset: u32, dst: &mut [u8]) -> usize {
    ask(0, |host| host.take(channel, offset, dst))
}

pub(crate) fn emit(frame: &[u8]) -> i32 {
    ask(abi::SIGNAL_MORE, |host| host.emit(frame))
}

pub(crate) fn body(bytes: &[u8]) -> i32 {
    ask(abi::SIGNAL_MORE, |host| host.body(bytes))
}

pub(crate) fn call(service: u32, request: &[u8]) -> (u32, u32) {
    ask((abi::CODE_DENIED, 0), |host| host.call(service, request))
}

pub(crate) fn log(level: u32, line: &str) {
    ask((), |host| host.log(level, line))
}

pub(crate) fn info(id: u32) -> i64 {
    ask(0, |host| host.info(id))
}
