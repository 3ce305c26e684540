// Fetching URLs.
import * as host from "wasmres:host";
import * as abi from "./abi.js";
import { failureOf } from "./failure.js";
import { checkOptions, checkPositive } from "./options.js";
import { ask, bytesOf, expect } from "./service.js";

const shapes = ["ss(ss)bnn", "n(ss)su"];
const streamShapes = ["u", "?"];
const why = {
  [abi.CODE_INVALID_PARAMS]: "the request makes no sense",
  [abi.CODE_UNAVAILABLE]: "there is no proper answer",
  [abi.CODE_DEADLINE]: "the answer did not come in time",
};
const known = ["method", "headers", "body", "maxBytes", "timeout"];
const maxTimeout = 2 ** 32 - 1; // milliseconds

export function fetch(url, options = {}) {
  checkOptions(options, known, "fetch");
  const { method, headers = [], body, maxBytes, timeout } = options;
  checkPositive(maxBytes, "maxBytes", "fetch");
  checkPositive(timeout, "timeout", "fetch");
  const fields = [
    method?.toUpperCase(),
    url,
    headers[Symbol.iterator] ? [...headers] : Object.entries(headers),
    body === undefined || body === null ? undefined : bytesOf(body, "fetch: the body"),
    maxBytes && Math.ceil(maxBytes),
    timeout && Math.min(Math.ceil(timeout), maxTimeout),
  ];
  return new Response(ask(abi.SERVICE_HTTP, shapes, fields, "fetch", why));
}

class Response {
  constructor([status = 0, headers = [], url = "", stream = 0n]) {
    expect(status >= 100 && status <= 999, "fetch");
    this.status = status;
    this.headers = headers.map(([name = "", value = ""]) => [name, value]);
    this.url = url;
    this.body = new Body(stream);
  }

  get ok() {
    return this.status >= 200 && this.status < 300;
  }

  header(name) {
    const wanted = name.toLowerCase();
    return this.headers.find(([other]) => other.toLowerCase() === wanted)?.[1];
  }

  check() {
    if (this.ok) return this;
    const code = codeOf(this.status);
    const retryAfter = code === abi.CODE_UNAVAILABLE ? this.#retryAfter() : undefined;
    throw failureOf(code, `the server answers ${this.status}`, { retryAfter });
  }

  /** Milliseconds; undefined when the server does not say, or names a date. */
  #retryAfter() {
    const seconds = this.header("retry-after") ?? "";
    return /^[0-9]{1,9}$/.test(seconds) ? seconds * 1000 : undefined;
  }

  bytes() {
    return this.body.read();
  }

  text() {
    return host.decode(this.bytes());
  }

  json() {
    return JSON.parse(this.text());
  }
}

/** The code that a status which is no success stands for. */
function codeOf(status) {
  switch (status) {
    case 404:
    case 410:
      return abi.CODE_NOT_FOUND;
    case 401:
    case 403:
      return abi.CODE_DENIED;
    case 408:
    case 429:
      return abi.CODE_UNAVAILABLE;
  }
  return status >= 500 ? abi.CODE_UNAVAILABLE : abi.CODE_INTERNAL;
}

/** The body of an answer, part by part: one is here, the host has the rest. */
class Body {
  #part = host.taken(); // that is next, if it is here; the host forgets it with the next service call
  #stream; // by which the host gives the next one; 0 when there is none
  #begun = false;

  constructor(stream) {
    this.#stream = stream;
  }

  *[Symbol.iterator]() {
    for (let part = this.#take(); part; part = this.#take()) yield part;
  }

  #take() {
    this.#begun = true;
    if (!this.#part && this.#stream > 0n) this.#load();
    const part = this.#part;
    this.#part = undefined;
    return part;
  }

  #load() {
    const [more = false] = ask(abi.SERVICE_STREAM, streamShapes, [this.#stream], "fetch", why);
    this.#part = host.taken();
    if (!more) this.#stream = 0n;
  }

  read() {
    if (this.#begun) throw new TypeError("fetch: the body has been read before");
    const parts = [...this];
    if (parts.length === 1) return parts[0];
    const whole = new Uint8Array(parts.reduce((size, { length }) => size + length, 0));
    let at = 0;
    for (const part of parts) {
      whole.set(part, at);
      at += part.length;
    }
    return whole;
  }
}
