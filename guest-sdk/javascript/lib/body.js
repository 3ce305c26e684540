// The bytes of a content: { data, size }. The data is a short string, a Uint8Array, or a stream, an iterable of such,
// which may be asynchronous; one with slice(start, end), like a File, gives a part of itself. The size is in bytes, or
// undefined when nobody knows.
import * as host from "wasmres:host";
import { asBytes, body, endBody, kindOf } from "./out.js";

/** Bodies up to so many bytes travel with the head of their content. */
export const inlineMax = 4 << 10;

/** Makes a body of what a handler has answered. */
export function bodyOf(value, size) {
  if (typeof value === "string") {
    if (value.length <= inlineMax) return { data: value, size: value.length }; // near enough
    value = host.encode(value);
  }
  const data = asBytes(value);
  if (data) return { data, size: data.length };
  if (value?.[Symbol.iterator] || value?.[Symbol.asyncIterator]) {
    return { data: value, size: (value.size ?? size) || undefined }; // 0 is unknown, as of a file of /proc
  }
  throw new TypeError(`the text or bytes of a content is ${kindOf(value)}`);
}

export const isStream = ({ data }) => typeof data !== "string" && !(data instanceof Uint8Array);

/** Gives the bytes from start to end of a body that is no string. */
export function partOf({ data }, start, end) {
  const size = end - start;
  if (data instanceof Uint8Array) return { data: data.subarray(start, end), size };
  if (data.slice) return { data: data.slice(start, end), size };
  return { data: data[Symbol.asyncIterator] ? asyncPart(data, start, end) : part(data, start, end), size };
}

function* part(stream, start, end) {
  let at = 0;
  for (const chunk of stream) {
    const bytes = typeof chunk === "string" ? host.encode(chunk) : asBytes(chunk);
    yield bytes.subarray(Math.max(start - at, 0), Math.max(end - at, 0));
    at += bytes.length;
    if (at >= end) return;
  }
}

async function* asyncPart(stream, start, end) {
  let at = 0;
  for await (const chunk of stream) {
    yield* part([chunk], start - at, end - at);
    at += typeof chunk === "string" ? host.encode(chunk).length : asBytes(chunk).length;
    if (at >= end) return;
  }
}

/** Sends a body whose content was emitted. Gives a promise when that takes one. */
export function sendBody({ data }) {
  if (data[Symbol.asyncIterator]) return sendAsync(data);
  if (typeof data === "string" || data instanceof Uint8Array) body(data);
  else for (const chunk of data) body(chunk);
  endBody();
  return undefined;
}

async function sendAsync(stream) {
  for await (const chunk of stream) body(chunk);
  endBody();
}
