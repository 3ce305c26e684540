//! What a module exports.

use std::panic;

use crate::{abi, host, request, serve, Provider};

/// Exports a provider: what the host calls when this library is a module. Its parameter is a function that makes the
/// [`Provider`], which runs once. Use it once in a library.
///
/// ```
/// use wasmres::{Provider, Route};
///
/// fn provider() -> Provider {
///     Provider::new("hello", "1.0.0").route(Route::resource("hello://world", |_| Ok("Hello, world!")))
/// }
///
/// wasmres::export!(provider);
/// ```
#[macro_export]
macro_rules! export {
    ($provider:expr) => {
        const _: () = {
            #[cfg(target_arch = "wasm32")]
            ::std::thread_local! {
                static PROVIDER: $crate::Provider = $crate::export::start($provider);
            }

            #[cfg(target_arch = "wasm32")]
            #[no_mangle]
            extern "C" fn wasmres_v1(op: u32, size: u32) -> u32 {
                PROVIDER.with(|provider| $crate::export::serve(provider, op, size))
            }

            #[cfg(target_arch = "wasm32")]
            #[no_mangle]
            extern "C" fn wasmres_v1_warm() {
                PROVIDER.with($crate::export::warm)
            }

            #[cfg(target_arch = "wasm32")]
            #[no_mangle]
            extern "C" fn wasmres_v1_seed(seed: u64) {
                $crate::export::seed(seed);
            }

            #[cfg(not(target_arch = "wasm32"))]
            const _: fn() -> $crate::Provider = $provider;
        };
    };
}

/// Makes the provider. Panics, also those of making it, are logged; a module is stopped by them.
pub fn start(provider: fn() -> Provider) -> Provider {
    panic::set_hook(Box::new(|info| host::log(abi::LOG_ERROR, &info.to_string())));
    provider()
}

/// Runs one operation.
pub fn serve(provider: &Provider, op: u32, size: u32) -> u32 {
    serve::serve(provider, op, size)
}

/// Does what is to be done once before the first request.
pub fn warm(provider: &Provider) {
    provider.run_warm();
}

/// Sets what [`Request::seed`](crate::Request::seed) gives.
pub fn seed(seed: u64) {
    request::set_seed(seed);
}
