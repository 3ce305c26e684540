//! The host as a guest sees it: the six functions of `wasmres_v1`. It gives no meaning to what passes through.
//!
//! For WebAssembly they are the imports themselves; in native builds they go to the host of `testing`.

#[cfg(target_arch = "wasm32")]
#[allow(unsafe_code)]
mod imports;
#[cfg(not(target_arch = "wasm32"))]
mod native;

#[cfg(target_arch = "wasm32")]
pub(crate) use imports::*;
#[cfg(not(target_arch = "wasm32"))]
pub(crate) use native::*;

use crate::{abi, Code};

/// Asks for a service and gives the message it answers. An unknown code counts as internal.
pub(crate) fn ask(service: u32, request: &[u8]) -> Result<Vec<u8>, Code> {
    let (code, size) = call(service, request);
    if code != abi::CODE_OK {
        return Err(Code::from_number(code).unwrap_or(Code::Internal));
    }
    Ok(fetch(abi::CHANNEL_RESPONSE, size))
}

/// Gives the first `size` bytes of a channel.
pub(crate) fn fetch(channel: u32, size: u32) -> Vec<u8> {
    let mut bytes = vec![0; size as usize];
    let copied = take(channel, &mut bytes);
    bytes.truncate(copied);
    bytes
}
