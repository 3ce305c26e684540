import * as abi from "./abi";
import { Decoder } from "./decoder";
import { Encoder } from "./encoder";
import { Failure } from "./failure";
import * as host from "./host";

const asked = new Encoder(memory.data(1024), 1024);

const ROOM: u32 = 4096;
let answer: usize = memory.data(4096);
let room: u32 = ROOM;
let length: u32 = 0; // of the last answer

/** Begins a request to a service. One is made at a time. */
export function request(): Encoder { return asked.reset(); }

/** Hands the request over and gives the code the service answers. */
export function call(service: u32): u32 {
  const result = host.call(service, asked.bytes, asked.length);
  length = <u32>result;
  return <u32>(result >> 32);
}

/** Reads the message that the last call was answered with. It stays until the next call. */
export function response(): Decoder {
  if (length > room) {
    if (room > ROOM) heap.free(answer);
    room = length;
    answer = heap.alloc(room);
  }
  return new Decoder(answer, answer + host.take(abi.CHANNEL_RESPONSE, answer, 0, length));
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
