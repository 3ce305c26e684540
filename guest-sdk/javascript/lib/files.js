// Files of folders that the operator has granted.
import * as host from "wasmres:host";
import * as abi from "./abi.js";
import { failureOf } from "./failure.js";
import { folderOf, versionOf } from "./folder.js";
import { ask, bytesOf, expect } from "./service.js";

const readMax = 64 << 10; // bytes that are fetched at once
const sizelessMax = 16 << 20; // bytes that are read to memory of a file whose size is told as 0

const shapes = ["snnsb?", "(snn?)?"];
const why = {
  [abi.CODE_NOT_FOUND]: "there is no such file",
  [abi.CODE_INVALID_PARAMS]: "it is no path of that kind",
};
const whyOf = {
  [abi.SERVICE_FILE_WRITE]: {
    ...why,
    [abi.CODE_INVALID_PARAMS]: "it is no path for a file",
    [abi.CODE_TOO_LARGE]: "that is more than can be written",
  },
  [abi.SERVICE_FILE_REMOVE]: { ...why, [abi.CODE_INVALID_PARAMS]: "it is no file and no empty folder" },
};

/** Asks one of the file services about a path, for files and whether there are more. */
function find(service, path, { offset, length, after, data, append } = {}) {
  const fields = [path, offset, length, after, data, append];
  const [files = [], more = false] = ask(service, shapes, fields, path, whyOf[service] ?? why);
  return { files: files.map((file) => infoOf(file, path)), more };
}

/** As find, of services that answer one file. */
function findOne(service, path, fields) {
  const { files } = find(service, path, fields);
  expect(files.length === 1, path);
  return files[0];
}

/** A file or folder, as the host describes it. */
function infoOf([name = "", size = 0, modified = 0, isDirectory = false], path) {
  expect(size >= 0 && Number.isSafeInteger(size), path);
  return { name, size, lastModified: new Date(modified), isDirectory };
}

export class Dir {
  #path;

  constructor(path) {
    this.#path = path.replace(/\/$/, "");
  }

  #join(name) {
    return name === "." ? this.#path || "/" : `${this.#path}/${name}`;
  }

  stat(name) {
    return findOne(abi.SERVICE_FILE_STAT, this.#join(name));
  }

  *list(name = ".") {
    const path = this.#join(name);
    for (let after, more = true; more; ) {
      let files;
      ({ files, more } = find(abi.SERVICE_FILE_LIST, path, { after }));
      expect(files.length > 0 || !more, path);
      yield* files;
      after = files.at(-1)?.name;
    }
  }

  open(name) {
    const { size, lastModified, isDirectory } = this.stat(name);
    const path = this.#join(name);
    if (isDirectory) throw failureOf(abi.CODE_INVALID_PARAMS, `${path}: it is a folder`);
    return new File(path, lastModified, 0, size, size === 0);
  }

  read(name) {
    return this.open(name).read();
  }

  readText(name) {
    return host.decode(this.read(name));
  }

  write(name, data) {
    const fields = { data: bytesOf(data, "write: the data") };
    return findOne(abi.SERVICE_FILE_WRITE, this.#join(name), fields);
  }

  append(name, data) {
    const fields = { data: bytesOf(data, "append: the data"), append: true };
    return findOne(abi.SERVICE_FILE_WRITE, this.#join(name), fields);
  }

  folder(name, uriPrefix, options) {
    return folderOf(this.#folder(name), uriPrefix, options);
  }

  folderVersion(name, options) {
    return versionOf(this.#folder(name), options);
  }

  /** What folder.js asks of a folder. */
  #folder(name) {
    const path = this.#join(name);
    return {
      path,
      pathOf: (file) => (name === "." ? file : `${name}/${file}`),
      page: (after) => find(abi.SERVICE_FILE_LIST, path, { after }),
      read: (file, offset, length) => {
        const found = findOne(abi.SERVICE_FILE_READ, this.#join(file), { offset, length });
        return { file: found, bytes: host.taken(length) };
      },
    };
  }

  remove(name) {
    const path = this.#join(name);
    const { files } = find(abi.SERVICE_FILE_REMOVE, path);
    expect(files.length === 0, path);
  }
}

class File {
  #path;
  #start;
  #sizeless; // its size is told as 0, as that of files of /proc, which have bytes

  constructor(path, lastModified, start, size, sizeless = false) {
    this.#path = path;
    this.#start = start;
    this.#sizeless = sizeless;
    this.lastModified = lastModified;
    this.size = size;
  }

  slice(start = 0, end = this.size) {
    const from = Math.min(Math.max(start, 0), this.size);
    const to = Math.min(Math.max(end, from), this.size);
    return new File(this.#path, this.lastModified, this.#start + from, to - from);
  }

  *[Symbol.iterator]() {
    const end = this.#sizeless ? Infinity : this.size;
    for (let at = 0; at < end; ) {
      const length = Math.min(readMax, end - at);
      find(abi.SERVICE_FILE_READ, this.#path, { offset: this.#start + at, length });
      const bytes = host.taken(length);
      if (bytes.length === 0) return; // it has become shorter
      yield bytes;
      at += bytes.length;
    }
  }

  read() {
    if (this.#sizeless) return this.#readSizeless();
    const whole = new Uint8Array(this.size);
    let at = 0;
    for (const bytes of this) {
      whole.set(bytes, at);
      at += bytes.length;
    }
    return whole.subarray(0, at);
  }

  #readSizeless() {
    const parts = [];
    let size = 0;
    for (const bytes of this) {
      parts.push(bytes);
      size += bytes.length;
      if (size > sizelessMax) throw failureOf(abi.CODE_TOO_LARGE, `${this.#path}: it is larger than 16 MiB`);
    }
    const whole = new Uint8Array(size);
    let at = 0;
    for (const bytes of parts) {
      whole.set(bytes, at);
      at += bytes.length;
    }
    return whole;
  }

  text() {
    return host.decode(this.read());
  }
}

export const dir = (path) => new Dir(path);
