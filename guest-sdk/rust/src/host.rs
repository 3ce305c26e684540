//! The host as a guest sees it: the six functions of `wasmres_v1`. It gives no meaning to what passes through.
//!
//! For WebAssembly they are the imports themselves; in native builds they go to the host of `testing`.

#[cfg(target_arch = "wasm32")]
#[allow(unsafe_code)]
mod imports;
#[cfg(not(target_arch = "wasm32"))]
mod native;
#[cfg(test)]
pub(crate) mod script;

#[cfg(target_arch = "wasm32")]
pub(crate) use imports::*;
#[cfg(not(target_arch = "wasm32"))]
pub(crate) use native::*;

use crate::wire::Malformed;
use crate::{abi, Code, Error};

/// The most bytes an answer of the host has, of the message and of what is beside it.
pub(crate) const ANSWER_MAX: u32 = 1 << 20;

/// Asks for a service and gives the message it answers. An unknown code counts as internal.
pub(crate) fn ask(service: u32, request: &[u8]) -> Result<Vec<u8>, Code> {
    if request.len() > abi::MAX_SERVICE as usize {
        return Err(Code::TooLarge);
    }
    let (code, size) = call(service, request);
    if code != abi::CODE_OK {
        return Err(Code::from_number(code).unwrap_or(Code::Internal));
    }
    if size > ANSWER_MAX {
        return Err(Code::Internal);
    }
    Ok(fetch(abi::CHANNEL_RESPONSE, size))
}

/// Says that an answer of the host is not what it should be.
pub(crate) fn malformed(_: Malformed) -> Error {
    Error::internal("the host gave a malformed answer")
}

/// Gives the first `size` bytes of a channel.
pub(crate) fn fetch(channel: u32, size: u32) -> Vec<u8> {
    let mut bytes = vec![0; size as usize];
    let copied = take(channel, 0, &mut bytes);
    bytes.truncate(copied);
    bytes
}
