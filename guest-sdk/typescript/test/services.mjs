// The services of a stand-in for wasmres: what its options grant. Each is asked with the fields of a message, and
// answers with those of another, or with a code: see guest-sdk/javascript/engine/message.c.
import * as abi from "../lib/abi.js";
import { answerFiles } from "./files.mjs";
import { answerKV } from "./kv.mjs";

/** Gives { answer, bytes }: the answer, and the bytes beside it. */
export function answerService(standIn, service, fields) {
  const answer = services[service]?.(standIn, fields, service) ?? abi.CODE_UNSUPPORTED;
  return answer.bytes ? answer : { answer };
}

const services = {
  [abi.SERVICE_CONFIG]: config,
  [abi.SERVICE_HTTP]: http,
  [abi.SERVICE_SQL]: sql,
  [abi.SERVICE_NOTIFY_UPDATED]: notify,
  [abi.SERVICE_NOTIFY_LIST]: notify,
};
for (const service of [abi.SERVICE_KV_GET, abi.SERVICE_KV_PUT, abi.SERVICE_KV_DELETE, abi.SERVICE_KV_LIST]) {
  services[service] = ({ store }, fields, service) => (store ? answerKV(store, service, fields) : abi.CODE_DENIED);
}
for (const service of [
  abi.SERVICE_FILE_STAT, abi.SERVICE_FILE_READ, abi.SERVICE_FILE_LIST, abi.SERVICE_FILE_WRITE, abi.SERVICE_FILE_REMOVE,
]) {
  services[service] = ({ options }, fields, service) => answerFiles(options.dirs ?? {}, service, fields);
}

function config({ options }, [key]) {
  const name = key.startsWith("env:") ? key.slice(4) : undefined;
  const values = (name === undefined ? options.config : options.env) ?? {};
  const value = Object.hasOwn(values, name ?? key) ? values[name ?? key] : undefined;
  return value === undefined ? abi.CODE_NOT_FOUND : [String(value)];
}

function http({ options }, [method = "GET", url = "", headers = [], body]) {
  if (!options.fetch) return abi.CODE_DENIED;
  const found = options.fetch({ method, url, headers, body });
  if (typeof found?.then === "function") throw new TypeError("fetch of a test gives a response, not a promise of one");
  const { status = 200, headers: given = {}, body: answered = "" } = found ?? { status: 404 };
  const bytes = typeof answered === "string" ? new TextEncoder().encode(answered) : answered;
  return { answer: [status, Array.isArray(given) ? given : Object.entries(given), url, 0n], bytes };
}

function sql({ options }, [connection, statement, args = [], most]) {
  const query = options.sql?.[connection];
  if (!query) return abi.CODE_DENIED;
  const rows = query(statement, ...args);
  const columns = Object.keys(rows[0] ?? {});
  const values = rows.slice(0, most || rows.length).map((row) => [columns.map((name) => row[name])]);
  return [columns.map((name) => [name, ""]), values, 0n];
}

function notify({ notices }, [uri = ""]) {
  notices.push(uri);
  return [];
}
