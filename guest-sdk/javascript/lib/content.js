// What a handler answers, and how it is sent.
import * as host from "wasmres:host";
import * as abi from "./abi.js";
import { bodyOf, inlineMax, isStream, partOf, sendBody } from "./body.js";
import { Failure, NotFound } from "./failure.js";
import { Folder } from "./folder.js";
import { asBytes, flush, flushLarge, jsonOf, kindOf, timeOf } from "./out.js";

/** Sends the answer of a read. Gives a promise when that takes one. */
export function sendAnswer(answer, request, route) {
  const contents = answer instanceof Folder ? undefined : contentsOf(answer);
  if (contents?.length === 0) throw new NotFound();
  host.number(10, route.ttl);
  host.number(11, route.scope);
  if (!contents) return sendFolder(answer, request, route);
  const sole = contents.length === 1 ? contents[0] : undefined;
  if (sole?.etag && sole.etag === request.ifNoneMatch) return sendUnmodified(sole, request);
  return sendFrom(0, contents, request, route);
}

function sendFolder(folder, request, route) {
  for (const content of folder) send(content, request, route);
}

function contentsOf(answer) {
  if (answer === undefined || answer === null) return [];
  return Array.isArray(answer) ? answer.map(contentOf) : [contentOf(answer)];
}

function contentOf(value) {
  if (typeof value === "string") return { text: value };
  const bytes = asBytes(value);
  if (bytes) return { bytes };
  const kinds = value && typeof value === "object" ? ["text", "bytes", "notModified"] : [];
  if (kinds.filter((kind) => value[kind] !== undefined).length === 1) return value;
  throw new TypeError(
    `a handler answered ${kindOf(value)} where it should answer a string, a Uint8Array, ` +
      "an object with text or bytes, or an array of those",
  );
}

function sendFrom(i, contents, request, route) {
  for (; i < contents.length; i++) {
    const sending = send(contents[i], request, route);
    if (sending) return sending.then(() => sendFrom(i + 1, contents, request, route));
  }
  return undefined;
}

function send(content, request, route) {
  if (content.notModified) return sendUnmodified(content, request);
  const kind = content.text === undefined ? abi.KIND_BLOB : abi.KIND_TEXT;
  const { body, total } = cut(content, kind, request, route);
  if (request.maxBytes > 0 && body.size > request.maxBytes) throw new Failure("too_large");
  const inline = body.size <= inlineMax && !isStream(body);
  host.begin(3);
  host.text(1, content.uri ?? request.uri);
  host.text(2, content.mimeType ?? route.mimeType ?? usualType(kind));
  if (inline) putInline(kind, body);
  else announce(kind, body);
  host.text(7, content.etag);
  host.text(8, timeOf(content.lastModified));
  host.text(9, jsonOf(content.meta));
  host.number(11, total);
  const length = host.end();
  if (inline) return flushLarge(length);
  flush();
  return sendBody(body);
}

function sendUnmodified(content, request) {
  host.begin(3);
  host.text(1, content.uri ?? request.uri);
  host.text(7, content.etag);
  host.number(10, 1);
  host.end();
}

const usualType = (kind) => (kind === abi.KIND_TEXT ? "text/plain" : "application/octet-stream");

/**
 * Reduces bytes to the part that is asked for, if the route has ranges and the handler has not done so. Texts are
 * answered whole, and so are streams without a size: the host cuts them. The total is that of a part alone.
 */
function cut({ text, bytes, size, rangeTotal }, kind, request, route) {
  const body = bodyOf(text ?? bytes, size);
  const range = route.ranges ? request.range : undefined;
  const done = !range || kind === abi.KIND_TEXT || rangeTotal !== undefined || (isStream(body) && !(body.size >= 0));
  if (done) return { body, total: rangeTotal ?? 0 };
  const whole = typeof body.data === "string" ? bodyOf(host.encode(body.data)) : body;
  const start = Math.min(range.offset, whole.size);
  const end = range.length > 0 ? Math.min(start + range.length, whole.size) : whole.size;
  return { body: partOf(whole, start, end), total: whole.size };
}

function putInline(kind, { data }) {
  const field = kind === abi.KIND_TEXT ? 3 : 4;
  if (typeof data === "string") host.element(field, data);
  else host.bytes(field, data);
}

function announce(kind, { size = 0 }) {
  host.number(5, kind);
  host.number(6, size);
}
