//! The imports. All the unsafe code of the SDK is here.

mod import {
    #[link(wasm_import_module = "wasmres_v1")]
    extern "C" {
        pub fn take(channel: u32, dst: *mut u8, off: u32, len: u32) -> u32;
        pub fn emit(ptr: *const u8, len: u32) -> i32;
        pub fn body(ptr: *const u8, len: u32) -> i32;
        pub fn call(service: u32, ptr: *const u8, len: u32) -> u64;
        pub fn log(level: u32, ptr: *const u8, len: u32);
        pub fn info(id: u32) -> i64;
    }
}

/// Copies the bytes of a channel from `offset` on to `dst` and says how many.
pub(crate) fn take(channel: u32, offset: u32, dst: &mut [u8]) -> usize {
    // SAFETY: the host writes to nothing but the `dst.len()` bytes at `dst`, which is borrowed for us alone, and keeps
    // no pointer.
    let copied = unsafe { import::take(channel, dst.as_mut_ptr(), offset, dst.len() as u32) };
    dst.len().min(copied as usize)
}

/// Hands a frame over and gives the host's signal.
pub(crate) fn emit(frame: &[u8]) -> i32 {
    // SAFETY: the host only reads the frame, and keeps no pointer.
    unsafe { import::emit(frame.as_ptr(), frame.len() as u32) }
}

/// Hands over bytes of the last content and gives the host's signal.
pub(crate) fn body(bytes: &[u8]) -> i32 {
    // SAFETY: the host only reads the bytes, and keeps no pointer.
    unsafe { import::body(bytes.as_ptr(), bytes.len() as u32) }
}

/// Asks for a service and gives its code and the size of its response.
pub(crate) fn call(service: u32, request: &[u8]) -> (u32, u32) {
    // SAFETY: the host only reads the request, and keeps no pointer.
    let answer = unsafe { import::call(service, request.as_ptr(), request.len() as u32) };
    ((answer >> 32) as u32, answer as u32)
}

/// Writes a line to the host's log.
pub(crate) fn log(level: u32, line: &str) {
    // SAFETY: the host only reads the line, and keeps no pointer.
    unsafe { import::log(level, line.as_ptr(), line.len() as u32) }
}

/// Gives one number the host knows.
pub(crate) fn info(id: u32) -> i64 {
    // SAFETY: no memory is involved.
    unsafe { import::info(id) }
}
