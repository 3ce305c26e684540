import * as abi from "./abi";
import { Decoder } from "./decoder";
import { Encoder } from "./encoder";
import { Failure } from "./failure";
import * as host from "./host";

const LARGEST: u32 = 4 << 20; // bytes of a message the host may answer; it keeps well below

const asked = new Encoder(memory.data(1024), 1024);

const ROOM: u32 = 4096;
let answer: usize = memory.data(4096);
let room: u32 = ROOM;
let length: u32 = 0; // of the last answer

/** Begins a request to a service. One is made at a time. */
export function request(): Encoder { return asked.reset(); }

/** Hands the request over and gives the code the service answers. */
export function call(service: u32): u32 {
  length = 0;
  if (asked.length > abi.MAX_SERVICE) return abi.CODE_TOO_LARGE;
  const result = host.call(service, asked.bytes, asked.length);
  if (<u32>result > LARGEST) return abi.CODE_INTERNAL;
  length = <u32>result;
  return <u32>(result >> 32);
}

/** Bytes of the message that the last call was answered with. */
export function size(): u32 { return length; }

/** Reads that message. It stays until the next call. */
export function response(): Decoder {
  if (length > room) {
    if (room > ROOM) heap.free(answer);
    room = length;
    answer = heap.alloc(room);
  }
  return responseAt(answer);
}

/** Reads that message to memory of the caller's, which has room for its `size`. */
export function responseAt(to: usize): Decoder {
  const taken = host.take(abi.CHANNEL_RESPONSE, to, 0, length);
  const d = new Decoder(to, to + taken);
  d.ok = taken == length;
  return d;
}

/** Tells whoever follows the resource that it has changed. Null when that went well. */
export function notifyUpdated(uri: string): Failure | null {
  request().text(1, uri);
  return failureOf(call(abi.SERVICE_NOTIFY_UPDATED));
}

/** Tells clients that the list of resources has changed. Null when that went well. */
export function notifyListChanged(): Failure | null {
  request();
  return failureOf(call(abi.SERVICE_NOTIFY_LIST));
}

function failureOf(code: u32): Failure | null {
  return code == abi.CODE_OK ? null : new Failure(code);
}
