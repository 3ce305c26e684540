// What an operation sends.
import * as host from "wasmres:host";
import * as abi from "./abi.js";

/** A frame that has grown to so many bytes is sent. */
export const flushAt = 8 << 10;

/** Ends an operation that the host wants no more of. */
class Stopped extends Error {}

/** Throws when a signal says that the operation is over. */
function check(signal) {
  if (signal === abi.SIGNAL_MORE) return;
  host.stop(signal);
  throw new Stopped();
}

export const flush = () => check(host.emit());

/** Sends the frame when it is large. */
export function flushLarge(bytes) {
  if (bytes >= flushAt) flush();
}

/** As flush, where the host may say that it has enough, as of the entries of a list: tells whether it did. */
export function flushUnlessEnough() {
  const signal = host.emit();
  if (signal < abi.SIGNAL_MORE) check(signal);
  return signal > abi.SIGNAL_MORE;
}

/** Sends bytes of the last content: a string, or what bytesOf takes. */
export const body = (chunk) => check(host.body(typeof chunk === "string" ? chunk : bytesOf(chunk)));

export const endBody = () => check(host.endBody());

/** A Uint8Array over what holds bytes; undefined for what does not. */
export function asBytes(value) {
  if (value instanceof Uint8Array) return value;
  if (value instanceof ArrayBuffer) return new Uint8Array(value);
  if (ArrayBuffer.isView(value)) return new Uint8Array(value.buffer, value.byteOffset, value.byteLength);
  return undefined;
}

function bytesOf(chunk) {
  const bytes = asBytes(chunk);
  if (bytes) return bytes;
  throw new TypeError(`a stream gave ${kindOf(chunk)} where it should give a string or a Uint8Array`);
}

/** What something is, for messages. */
export function kindOf(value) {
  if (value === null || value === undefined) return String(value);
  if (Array.isArray(value)) return "an array";
  if (typeof value !== "object") return `a ${typeof value}`;
  return `an object (${value.constructor?.name ?? "without a class"})`;
}

/** A time as RFC 3339: of a Date, or as it is. */
export const timeOf = (time) => (time instanceof Date ? time.toISOString() : time);

/** An object as JSON; undefined when there is none. */
export const jsonOf = (object) => (object === undefined ? undefined : JSON.stringify(object));
