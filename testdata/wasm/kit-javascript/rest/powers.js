// What the SDK does with powers, beyond the conformance kit.
import { Conflict, NotFound, fetch, kv, query, queryRow } from "wasmres";

export function servePowers(served) {
  served
    .resource("rest://fetch", fetched)
    .resource("rest://twice", () => {
      const response = fetch("http://a/");
      return response.text() + response.text();
    })
    .resource("rest://missing", () => fetch("http://a/").check().text())
    .resource("rest://sql", asked)
    .resource("rest://row", () => JSON.stringify(queryRow("main", "select 1") ?? "none"))
    .resource("rest://entry", entry)
    .resource("rest://update", () => {
      const { version } = kv.update("n", (old) => `${Number(old ? decoder.decode(old) : 0) + 1}`, { ttl: 0.5 });
      return String(version);
    })
    .resource("rest://delete", () => kept(() => kv.deleteVersion("k", 3n)))
    .resource("rest://keys", () => Array.from(kv.keysAfter("a", "ab"), ({ key }) => key).join())
    .resource("rest://large", () => kv.put("k", new Uint8Array(1 << 20)).key)
    .resource("rest://mistakes", () => mistakes.map(message).join("\n"));
}

const decoder = new TextDecoder();

function fetched() {
  const headers = new Map([["A", "1"], ["a", 2]]);
  const options = { method: "put", headers, body: Uint8Array.of(1, 255).buffer, maxBytes: 10.5, timeout: 1e15 };
  const response = fetch("http://a/ü", options);
  const { status, ok, url } = response;
  const found = [response.header("etag"), response.header("b"), response.json()];
  return JSON.stringify([status, ok, url, response.headers, ...found]);
}

function asked() {
  const bytes = new DataView(new ArrayBuffer(1));
  const rows = query("main", "s", false, 2n ** 63n - 1n, -(2 ** 53 - 1), 2 ** 53, NaN, bytes);
  const found = [rows.columns.map(({ name, type }) => `${name}:${type}`).join()];
  for (const [a, b] of rows.values()) {
    found.push(`${typeof a} ${a}, ${typeof b} ${b}`);
    if (found.length === 3) break;
  }
  for (const { a, b } of rows) found.push(`${a}, ${b}`);
  return found.join("\n");
}

function entry() {
  const { key, size, version, expires, value } = kv.getEntry("k");
  return `${key} ${size} ${version} ${expires.toISOString()} ${value}`;
}

function kept(change) {
  try {
    return change();
  } catch (error) {
    if (error instanceof Conflict && !(error instanceof NotFound)) return `${error}: ${error.entry?.version}`;
    throw error;
  }
}

/** Calls that nobody is asked for. */
const mistakes = [
  () => fetch("http://a/", { timeout: 0 }),
  () => fetch("http://a/", { maxBytes: "1" }),
  () => fetch("http://a/", { body: 5 }),
  () => fetch("http://a/", { verb: "GET" }),
  () => query("main", "s", 1, undefined),
  () => query("main", "s", new Date(0)),
  () => query("main", "s", 2n ** 63n),
  () => kv.put("k"),
  () => kv.put("k", "v", { ttl: NaN }),
  () => kv.put("k", "v", { ifVersion: 1 }),
  () => kv.put("k", "v", { ifVersion: 0n }),
  () => kv.update("k", async () => "v"),
  () => kv.update("k", () => "v", { ifAbsent: true }),
  () => kv.deleteVersion("k"),
];

function message(mistake) {
  try {
    return mistake();
  } catch (error) {
    return String(error);
  }
}
