// The host functions of the ABI. Each reads or writes only the memory its parameters name, while it runs.

/** Copies at most `length` bytes of a channel, from `offset` on, to `to`, and says how many. */
@external("wasmres_v1", "take")
export declare function take(channel: u32, to: usize, offset: u32, length: u32): u32;

/** Hands over a frame and answers a signal. */
@external("wasmres_v1", "emit")
export declare function emit(frame: usize, length: u32): i32;

/** Hands over bytes of the content last emitted and answers a signal. */
@external("wasmres_v1", "body")
export declare function body(bytes: usize, length: u32): i32;

/** Asks for a service and answers `code << 32 | size of the response`. */
@external("wasmres_v1", "call")
export declare function call(service: u32, request: usize, length: u32): u64;

/** Writes a line to the host's log. */
@external("wasmres_v1", "log")
export declare function log(level: u32, text: usize, length: u32): void;

/** Answers one number the host knows. */
@external("wasmres_v1", "info")
export declare function info(id: u32): i64;
