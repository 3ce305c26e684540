// Folders, answered as their files.
import * as host from "wasmres:host";
import { Denied, Invalid, NotFound } from "./failure.js";
import { checkFunction, checkOptions, checkPositive } from "./options.js";
import { expect } from "./service.js";

const options = ["maxFiles", "maxBytes", "hidden", "mimeType"];
const usualFiles = 100;
const usualBytes = 1 << 20;
const maxEntries = 10_000; // that are looked at
const maxNames = 10; // of files left out that are told
const maxURI = 2048; // bytes
const readMax = 64 << 10; // bytes that are fetched at once
const headMax = 1 << 10; // bytes that the type is told by

/** Control characters, and what else cannot stand in a URI, not even encoded. */
const unwritable = /[\u0000-\u001f\u007f-\u009f\\]/;
const binary = /^(audio|font|video)\/|^image\/(?!svg\+xml$)|^application\/(gzip|pdf|wasm|zip)$/;
const loneSurrogate = /\p{Surrogate}/u;

/**
 * The files of a folder one by one. The source has page(after), which gives { files, more }. When all are given, more
 * says whether there are entries that were not looked at.
 */
class List {
  #source;
  #hidden;
  #page;
  #last = "";
  more = true;

  constructor(source, hidden) {
    this.#source = source;
    this.#hidden = hidden;
    this.#fetch();
  }

  #fetch() {
    const { files, more } = this.#source.page(this.#last);
    const last = files.at(-1)?.name ?? "";
    expect(files.length > 0 ? last !== this.#last : !more, this.#source.path); // it would go on for ever
    this.#page = files;
    this.#last = last;
    this.more = more;
  }

  *[Symbol.iterator]() {
    for (let seen = 0; ; this.#fetch()) {
      for (const file of this.#page) {
        if (++seen > maxEntries) {
          this.more = true;
          return;
        }
        const shown = file.name !== "" && (this.#hidden || !file.name.startsWith("."));
        if (shown && !file.isDirectory) yield file;
      }
      if (!this.more || seen === maxEntries) return;
    }
  }
}

/** What is not answered of a folder. */
class LeftOut {
  files = 0;
  bytes = 0;
  names = [];
  reasons = {};

  add(reason, { name, size }) {
    this.files++;
    this.bytes += size;
    this.reasons[reason] = (this.reasons[reason] ?? 0) + 1;
    if (reason !== "name" && this.names.length < maxNames) this.names.push(name);
  }

  /** Adds a file that could not be read, if others can be. */
  addFailed(error, file) {
    if (error instanceof NotFound || error instanceof Invalid) this.add("gone", file);
    else if (error instanceof Denied) this.add("denied", file);
    else throw error;
  }

  text(more) {
    if (this.files === 0 && !more) return "No files.";
    const count = `${more ? "more than " : ""}${this.files} (${this.bytes} bytes)`;
    const names = this.names.map((name) => JSON.stringify(name)).join(", ");
    return `Files left out: ${count}${names && `, among them ${names}`}`;
  }

  meta(more) {
    if (this.files === 0 && !more) return undefined;
    const { files, bytes, names, reasons } = this;
    return { files, bytes, ...(more ? { more } : {}), names, reasons };
  }
}

/** An iterable of contents. Each file is read when its turn has come. */
export class Folder {
  #source;
  #list;
  #prefix;
  #options;

  constructor(source, uriPrefix, { maxFiles = usualFiles, maxBytes = usualBytes, hidden = false, mimeType } = {}) {
    this.#source = source;
    this.#list = new List(source, hidden);
    this.#prefix = uriPrefix;
    this.#options = { maxFiles, maxBytes, mimeType };
  }

  *[Symbol.iterator]() {
    const { maxFiles, maxBytes } = this.#options;
    const left = new LeftOut();
    let files = 0;
    let bytes = 0;
    for (const file of this.#list) {
      const path = this.#source.pathOf(file.name);
      const room = maxBytes - bytes;
      let found;
      let uri;
      if (unwritable.test(path)) found = "name";
      else if (files >= maxFiles) found = "maxFiles";
      else if (file.size > room) found = "maxBytes";
      else if (!(uri = uriOf(this.#prefix, path))) found = "name";
      else found = this.#read(path, room, file, left);
      if (found === undefined) continue;
      if (typeof found === "string") {
        left.add(found, file);
        continue;
      }
      files++;
      bytes += found.data.length;
      yield { ...this.#content(file.name, found.data), ...found.version, uri, rangeTotal: 0 };
    }
    const { more } = this.#list;
    if (files > 0 && left.files === 0 && !more) return;
    const meta = { folder: { files, bytes, leftOut: left.meta(more) } };
    yield { text: left.text(more), mimeType: "text/plain", meta };
  }

  /** Reads a file; the reason why it is left out; or undefined when that is told already. */
  #read(path, room, file, left) {
    const pieces = [];
    let length = 0;
    for (;;) {
      let part;
      try {
        part = this.#source.read(path, length, Math.min(readMax, room - length + 1));
      } catch (error) {
        left.addFailed(error, file);
        return undefined;
      }
      pieces.push(part.bytes);
      length += part.bytes.length;
      if (length > room) return "maxBytes";
      const { size, lastModified } = part.file;
      if (part.bytes.length > 0 && (size === 0 || length < size)) continue;
      const etag = `${lastModified.getTime().toString(36)}-${size.toString(36)}`;
      return { data: joined(pieces, length), version: { etag, lastModified } };
    }
  }

  #content(name, data) {
    const isText = isUTF8(data);
    const mimeType =
      this.#options.mimeType?.(name, data.subarray(0, headMax), isText) ||
      (isText ? "text/plain" : "application/octet-stream");
    return isText && !binary.test(mimeType) ? { text: data, mimeType } : { bytes: data, mimeType };
  }
}

/** Makes a folder of what a provider says. */
export function folderOf(source, uriPrefix, given = {}) {
  const where = "folder";
  checkOptions(given, options, where);
  checkPositive(given.maxFiles, "maxFiles", where);
  checkPositive(given.maxBytes, "maxBytes", where);
  if (given.mimeType !== undefined) checkFunction(given.mimeType, "mimeType", where);
  if (typeof uriPrefix !== "string") throw new TypeError(`${where}: the second parameter is not a URI`);
  return new Folder(source, uriPrefix, given);
}

/** An etag of the files of a folder, their sizes and their times. */
export function versionOf(source, given = {}) {
  checkOptions(given, options, "folderVersion");
  let low = 0x811c9dc5; // two sums by FNV-1a
  let high = 0x01000193;
  for (const { name, size, lastModified } of new List(source, given.hidden ?? false)) {
    const text = `${name}\0${size}\0${lastModified.getTime()}\0`;
    for (let i = 0; i < text.length; i++) {
      const unit = text.charCodeAt(i);
      low = Math.imul(low ^ unit, 0x01000193);
      high = Math.imul(high ^ (unit + i), 0x01000193);
    }
  }
  return (high >>> 0).toString(36) + "-" + (low >>> 0).toString(36);
}

function joined(pieces, length) {
  if (pieces.length === 1) return pieces[0];
  const all = new Uint8Array(length);
  let at = 0;
  for (const piece of pieces) {
    all.set(piece, at);
    at += piece.length;
  }
  return all;
}

/** Whether bytes are UTF-8 without zeros. */
function isUTF8(bytes) {
  if (bytes.includes(0)) return false;
  const text = host.decode(bytes);
  if (loneSurrogate.test(text)) return false;
  if (!text.includes("\ufffd")) return true;
  const again = host.encode(text); // other bytes, where some were replaced
  return again.length === bytes.length && again.every((byte, i) => byte === bytes[i]);
}

/** The URI of a file; undefined when it would be too long. */
function uriOf(prefix, path) {
  const escaped = encodeURIComponent(path)
    .replaceAll("%2F", "/")
    .replace(/[!'()*]/g, (c) => "%" + c.charCodeAt(0).toString(16).toUpperCase());
  const uri = prefix + escaped;
  return host.encode(uri).length <= maxURI ? uri : undefined;
}
