// fetch, Headers, Request and Response in the shape that browsers have, over the SDK's own fetch, which is synchronous.
// What fails is a Failure of the SDK, so that the client is told why.
import { fetch as fetchNow } from "../http.js";
import { asBytes } from "../out.js";
import * as host from "wasmres:host";

class Headers {
  #fields = new Map(); // by name in lower case

  constructor(init = []) {
    const pairs = init?.[Symbol.iterator] ? init : Object.entries(init ?? {});
    for (const [name, value] of pairs) this.append(name, value);
  }

  append(name, value) {
    const key = String(name).toLowerCase();
    this.#fields.set(key, this.#fields.has(key) ? `${this.#fields.get(key)}, ${value}` : String(value));
  }

  set(name, value) {
    this.#fields.set(String(name).toLowerCase(), String(value));
  }

  get(name) {
    return this.#fields.get(String(name).toLowerCase()) ?? null;
  }

  has(name) {
    return this.#fields.has(String(name).toLowerCase());
  }

  delete(name) {
    this.#fields.delete(String(name).toLowerCase());
  }

  forEach(callback, self) {
    for (const [name, value] of this) callback.call(self, value, name, this);
  }

  keys() {
    return this.#sorted().map(([name]) => name).values();
  }

  values() {
    return this.#sorted().map(([, value]) => value).values();
  }

  entries() {
    return this.#sorted().values();
  }

  [Symbol.iterator]() {
    return this.entries();
  }

  #sorted() {
    return [...this.#fields].sort(([a], [b]) => (a < b ? -1 : 1));
  }
}

/** The bytes of a body that is given, and the type they have. */
function bodyOf(body) {
  if (body === undefined || body === null) return {};
  if (typeof body === "string") return { body, type: "text/plain;charset=UTF-8" };
  if (globalThis.URLSearchParams && body instanceof URLSearchParams) {
    return { body: String(body), type: "application/x-www-form-urlencoded;charset=UTF-8" };
  }
  if (asBytes(body)) return { body: asBytes(body) };
  throw new TypeError("fetch: the body is no string, URLSearchParams or bytes");
}

class Message {
  #read; // gives the bytes
  bodyUsed = false;

  constructor(headers, read) {
    this.headers = headers;
    this.#read = read;
  }

  async bytes() {
    if (this.bodyUsed) throw new TypeError("the body has been read before");
    this.bodyUsed = true;
    return this.#read();
  }

  async arrayBuffer() {
    const { buffer, byteOffset, byteLength } = await this.bytes();
    return buffer.slice(byteOffset, byteOffset + byteLength);
  }

  async text() {
    return host.decode(await this.bytes());
  }

  async json() {
    return JSON.parse(await this.text());
  }
}

const bytesOf = (body) => (typeof body === "string" ? host.encode(body) : (body ?? new Uint8Array()));

class Request extends Message {
  constructor(input, init = {}) {
    const from = input instanceof Request ? input : undefined;
    const { body, type } = bodyOf(init.body ?? from?.given);
    const headers = new Headers(init.headers ?? from?.headers);
    if (type && !headers.has("content-type")) headers.set("content-type", type);
    super(headers, () => bytesOf(body));
    this.url = from ? from.url : String(input);
    this.method = (init.method ?? from?.method ?? "GET").toUpperCase();
    Object.defineProperty(this, "given", { value: body });
  }
}

class Response extends Message {
  constructor(body, { status = 200, statusText = "", headers, url = "" } = {}) {
    const given = typeof body === "function" ? { read: body } : bodyOf(body);
    super(new Headers(headers), given.read ?? (() => bytesOf(given.body)));
    Object.assign(this, { status, statusText, url, redirected: false, type: "default" });
  }

  get ok() {
    return this.status >= 200 && this.status < 300;
  }

  static json(value, init = {}) {
    return new Response(JSON.stringify(value), { ...init, headers: { "content-type": "application/json", ...init.headers } });
  }
}

async function fetch(input, init) {
  const { url, method, headers, given } = new Request(input, init);
  const answer = fetchNow(url, { method, headers, body: given });
  const { status, headers: fields } = answer;
  return new Response(() => answer.bytes(), { status, headers: fields, url: answer.url });
}

Object.assign(globalThis, { fetch, Headers, Request, Response });
