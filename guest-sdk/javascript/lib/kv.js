// Values that last from one request to the next.
import * as host from "wasmres:host";
import * as abi from "./abi.js";
import { NotFound, Unavailable } from "./failure.js";
import { checkOptions, checkPositive } from "./options.js";
import { ask, bytesOf, expect } from "./service.js";

const shapes = ["sbnu?ssn", "(snnu)??"];
const what = "the key-value store";
const why = {
  [abi.CODE_INVALID_PARAMS]: "that is no key, or the time is too long",
  [abi.CODE_TOO_LARGE]: "the value, or all of them, would be more than granted",
};
const page = 256; // entries that are listed at once
const updates = 16; // how often update tries

export class Conflict extends Error {
  constructor(entry) {
    super("the value is not the expected one");
    this.entry = entry;
  }
}
Conflict.prototype.name = "Conflict";

/** Asks one of the services, for entries, whether there are more, and whether there is a conflict. */
function call(service, { key, value, ttl, ifVersion, ifAbsent, prefix, after, limit }) {
  const fields = [key, value, ttl, ifVersion, ifAbsent, prefix, after, limit];
  const [entries = [], more = false, conflict = false] = ask(service, shapes, fields, what, why);
  return { entries: entries.map(entryOf), more, conflict };
}

function entryOf([key = "", size = 0, expires = 0, version = 0n]) {
  expect(version > 0n && size >= 0, what);
  return { key, size, version, expires: expires === 0 ? undefined : new Date(expires) };
}

function get(key) {
  return getEntry(key)?.value;
}

function getText(key) {
  const value = get(key);
  return value && host.decode(value);
}

function getEntry(key) {
  try {
    const { entries } = call(abi.SERVICE_KV_GET, { key });
    const value = host.taken();
    expect(entries.length === 1 && entries[0].size === value.length, what);
    return { ...entries[0], value };
  } catch (error) {
    if (error instanceof NotFound) return undefined;
    throw error;
  }
}

function put(key, value, options = {}) {
  checkOptions(options, ["ttl", "ifVersion", "ifAbsent"], "put");
  const { ttl, ifVersion, ifAbsent } = options;
  checkPositive(ttl, "ttl", "put");
  checkVersion(ifVersion, "put");
  const fields = { key, value: bytesOf(value, "put: the value"), ttl: ttl && Math.ceil(ttl), ifVersion, ifAbsent };
  const { entries, conflict } = call(abi.SERVICE_KV_PUT, fields);
  if (conflict) throw new Conflict(entries[0]);
  expect(entries.length === 1, what);
  return entries[0];
}

function checkVersion(version, where) {
  if (version === undefined || (typeof version === "bigint" && version > 0n && version < 1n << 64n)) return;
  throw new TypeError(`${where}: ${String(version)} is no version of an entry`);
}

function update(key, change, options = {}) {
  checkOptions(options, ["ttl"], "update");
  for (let i = 0; i < updates; i++) {
    const old = getEntry(key);
    const value = change(old?.value);
    try {
      return put(key, value, { ...options, ifVersion: old?.version, ifAbsent: !old });
    } catch (error) {
      if (!(error instanceof Conflict)) throw error;
    }
  }
  throw new Unavailable(`${what}: others change the value all the time`);
}

function remove(key) {
  call(abi.SERVICE_KV_DELETE, { key });
}

function deleteVersion(key, version) {
  if (version === undefined) throw new TypeError("deleteVersion: the version is missing");
  checkVersion(version, "deleteVersion");
  const { entries, conflict } = call(abi.SERVICE_KV_DELETE, { key, ifVersion: version });
  if (conflict) throw new Conflict(entries[0]);
}

const keys = (prefix = "") => keysAfter(prefix, "");

function* keysAfter(prefix, after) {
  for (let more = true; more; ) {
    let entries;
    ({ entries, more } = call(abi.SERVICE_KV_LIST, { prefix, after, limit: page }));
    expect(entries.length > 0 || !more, what);
    yield* entries;
    after = entries.at(-1)?.key;
  }
}

export const kv = Object.freeze({
  get, getText, getEntry, put, update, delete: remove, deleteVersion, keys, keysAfter,
});
