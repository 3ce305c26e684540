// What an operation pushes: frames, and bytes of contents.

import * as abi from "./abi";
import { Encoder } from "./encoder";
import { Failure } from "./failure";
import * as host from "./host";

const FULL: u32 = 8 << 10; // a frame is sent when it has grown to this
const PIECE: u32 = 768 << 10; // bytes that one body call hands over; a multiple of 3, as base64 likes

/** The fields that are not sent yet. */
export const frame = new Encoder(memory.data(16384), 16384);

let signal: i32 = abi.SIGNAL_MORE; // the first one that was not "more"

/** What `fail` was given; null while all goes well. */
export let failed: Failure | null = null;

export function begin(): void {
  signal = abi.SIGNAL_MORE;
  failed = null;
  frame.reset();
}

/** Has the operation end with this failure, whatever its handler answers. The first one counts. */
export function fail(failure: Failure): void {
  if (failed === null) failed = failure;
}

/** Whether the host wants no more. */
export function stopped(): bool { return signal != abi.SIGNAL_MORE; }

/** Sends what is collected. False when the host wants no more. */
export function flush(): bool {
  if (signal == abi.SIGNAL_MORE) send();
  return signal == abi.SIGNAL_MORE;
}

function send(): void {
  if (frame.length > 0) signal = host.emit(frame.bytes, frame.length);
  frame.reset();
}

/** Sends what is collected if it is worth a call of the host. False when the host wants no more. */
export function flushFull(): bool {
  return frame.length < FULL ? signal == abi.SIGNAL_MORE : flush();
}

/** Sends bytes of the last content. False when the host wants no more. */
export function body(bytes: usize, length: u32): bool {
  while (length > 0 && signal == abi.SIGNAL_MORE) {
    const n = min(length, PIECE);
    signal = host.body(bytes, n);
    bytes += n;
    length -= n;
  }
  return signal == abi.SIGNAL_MORE;
}

/** Sends the rest, or the failure, and gives the code the operation ends with. */
export function finish(answered: Failure | null): u32 {
  const failure = failed !== null ? failed : answered;
  if (failure === null && signal >= abi.SIGNAL_MORE) send(); // when the host has enough, the next cursor
  if (signal < abi.SIGNAL_MORE) return codeOf(signal);
  if (failure === null) return abi.CODE_OK;
  failure.encode(frame.reset());
  if (frame.length > 0) host.emit(frame.bytes, frame.length);
  return failure.code;
}

function codeOf(signal: i32): u32 {
  switch (signal) {
    case abi.SIGNAL_DEADLINE: return abi.CODE_DEADLINE;
    case abi.SIGNAL_TOO_LARGE: return abi.CODE_TOO_LARGE;
    case abi.SIGNAL_BAD_FRAME: return abi.CODE_INTERNAL;
  }
  return abi.CODE_CANCELLED;
}
