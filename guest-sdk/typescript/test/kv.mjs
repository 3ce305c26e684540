// The key-value store of a test, in memory. An entry is { value, version, expires }.
import * as abi from "../lib/abi.js";

let versions = 0n;

export function answerKV(store, service, [key = "", value, ttl, ifVersion, ifAbsent, prefix = "", after = "", limit]) {
  if (service === abi.SERVICE_KV_LIST) return list(store, prefix, after, limit);
  if (key === "" || key.length > abi.MAX_KEY) return abi.CODE_INVALID_PARAMS;
  const old = live(store, key);
  if (service === abi.SERVICE_KV_GET) {
    return old ? { answer: [[describe(key, old)]], bytes: old.value } : abi.CODE_NOT_FOUND;
  }
  if ((ifAbsent && old) || (ifVersion !== undefined && old?.version !== ifVersion)) {
    return [old ? [describe(key, old)] : [], false, true];
  }
  if (service === abi.SERVICE_KV_DELETE) {
    store.delete(key);
    return [[]];
  }
  const entry = { value: new Uint8Array(value ?? []), version: ++versions, expires: ttl ? Date.now() + ttl : 0 };
  store.set(key, entry);
  return [[describe(key, entry)]];
}

function live(store, key) {
  const entry = store.get(key);
  return entry && (entry.expires === 0 || entry.expires > Date.now()) ? entry : undefined;
}

const describe = (key, { value, version, expires }) => [key, value.length, expires, version];

function list(store, prefix, after, limit) {
  const keys = [...store.keys()].filter((key) => key.startsWith(prefix) && key > after && live(store, key)).sort();
  return [keys.slice(0, limit).map((key) => describe(key, store.get(key))), keys.length > limit];
}
