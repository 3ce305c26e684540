// The folders that a test grants: { path of the provider: folder of this machine }.
import fs from "node:fs";
import path from "node:path";

import * as abi from "../lib/abi.js";

export function answerFiles(dirs, service, [name, offset = 0, length, after = "", data, append]) {
  const file = fileOf(dirs, path.posix.normalize(name));
  if (!file) return abi.CODE_DENIED;
  try {
    switch (service) {
      case abi.SERVICE_FILE_STAT:
        return [[describe(file)]];
      case abi.SERVICE_FILE_READ:
        return read(file, offset, length);
      case abi.SERVICE_FILE_LIST:
        return [fs.readdirSync(file).sort().filter((name) => name > after).map((name) => describe(path.join(file, name)))];
      case abi.SERVICE_FILE_WRITE:
        fs.mkdirSync(path.dirname(file), { recursive: true });
        fs.writeFileSync(file, data ?? "", { flag: append ? "a" : "w" });
        return [[describe(file)]];
    }
    fs.statSync(file).isDirectory() ? fs.rmdirSync(file) : fs.unlinkSync(file);
    return [[]];
  } catch (error) {
    return codeOf(error);
  }
}

/** Where a path is on this machine; undefined outside of what is granted. */
function fileOf(dirs, name) {
  for (const [granted, folder] of Object.entries(dirs)) {
    if (name === granted) return path.resolve(folder);
    if (name.startsWith(`${granted}/`)) return path.join(path.resolve(folder), name.slice(granted.length));
  }
  return undefined;
}

function describe(file) {
  const { size, mtimeMs, ...stat } = fs.statSync(file);
  const isDirectory = (stat.mode & fs.constants.S_IFMT) === fs.constants.S_IFDIR;
  return [path.basename(file), isDirectory ? 0 : size, Math.floor(mtimeMs), isDirectory];
}

function read(file, offset, length) {
  const bytes = fs.readFileSync(file).subarray(offset, length === undefined ? undefined : offset + length);
  return { answer: [[describe(file)]], bytes: new Uint8Array(bytes) };
}

function codeOf({ code }) {
  switch (code) {
    case "ENOENT":
    case "ENOTDIR":
      return abi.CODE_NOT_FOUND;
    case "EACCES":
    case "EPERM":
      return abi.CODE_DENIED;
    case "EISDIR":
    case "ENOTEMPTY":
      return abi.CODE_INVALID_PARAMS;
  }
  return abi.CODE_INTERNAL;
}
