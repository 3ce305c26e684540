// Files of folders that the operator has granted.
import * as host from "wasmres:host";
import * as abi from "./abi.js";
import { failureOf } from "./failure.js";

const readMax = 64 << 10; // bytes that are fetched at once

const why = {
  [abi.CODE_NOT_FOUND]: "there is no such file",
  [abi.CODE_DENIED]: "it is not granted",
  [abi.CODE_INVALID_PARAMS]: "it is no path of that kind",
};

/** Asks one of the file services about a path. */
function ask(service, path, { offset = 0, length = 0, after } = {}) {
  const { code, files, more } = host.file(service, path, offset, length, after);
  if (code === abi.CODE_OK) return { files, more };
  throw failureOf(code, `${path}: ${why[code] ?? "the host failed"}`);
}

/** A file or folder, as the host describes it. */
const infoOf = ({ modified, ...rest }) => ({ ...rest, lastModified: new Date(modified) });

export class Dir {
  #path;

  constructor(path) {
    this.#path = path.replace(/\/$/, "");
  }

  #join(name) {
    return name === "." ? this.#path || "/" : `${this.#path}/${name}`;
  }

  stat(name) {
    return infoOf(ask(abi.SERVICE_FILE_STAT, this.#join(name)).files[0]);
  }

  *list(name = ".") {
    for (let after, more = true; more; ) {
      let files;
      ({ files, more } = ask(abi.SERVICE_FILE_LIST, this.#join(name), { after }));
      if (files.length === 0) return;
      after = files.at(-1).name;
      for (const file of files) yield infoOf(file);
    }
  }

  open(name) {
    const { size, lastModified, isDirectory } = this.stat(name);
    const path = this.#join(name);
    if (isDirectory) throw failureOf(abi.CODE_INVALID_PARAMS, `${path}: it is a folder`);
    return new File(path, lastModified, 0, size);
  }

  read(name) {
    return this.open(name).read();
  }

  readText(name) {
    return host.decode(this.read(name));
  }
}

class File {
  #path;
  #start;

  constructor(path, lastModified, start, size) {
    this.#path = path;
    this.#start = start;
    this.lastModified = lastModified;
    this.size = size;
  }

  slice(start = 0, end = this.size) {
    const from = Math.min(Math.max(start, 0), this.size);
    const to = Math.min(Math.max(end, from), this.size);
    return new File(this.#path, this.lastModified, this.#start + from, to - from);
  }

  *[Symbol.iterator]() {
    for (let at = 0; at < this.size; ) {
      const length = Math.min(readMax, this.size - at);
      ask(abi.SERVICE_FILE_READ, this.#path, { offset: this.#start + at, length });
      const bytes = host.taken(length);
      if (bytes.length === 0) return; // it has become shorter
      yield bytes;
      at += bytes.length;
    }
  }

  read() {
    const whole = new Uint8Array(this.size);
    let at = 0;
    for (const bytes of this) {
      whole.set(bytes, at);
      at += bytes.length;
    }
    return whole.subarray(0, at);
  }

  text() {
    return host.decode(this.read());
  }
}

export const dir = (path) => new Dir(path);
