// URL and URLSearchParams, by the URL Standard, but for hosts beyond ASCII and drive letters of file URLs.

const ports = { "http:": "80", "https:": "443", "ws:": "80", "wss:": "443", "ftp:": "21", "file:": "" };
const isSpecial = (protocol) => Object.hasOwn(ports, protocol);

const encoder = new TextEncoder();
const hex = (byte) => `%${byte.toString(16).toUpperCase().padStart(2, "0")}`;

/** Percent-encodes the characters that unsafe matches, and all beyond ASCII. */
function encode(text, unsafe) {
  return text.toWellFormed().replace(/[^]/gu, (character) =>
    character > "~" || character < " " || unsafe.test(character)
      ? Array.from(encoder.encode(character), hex).join("")
      : character,
  );
}

const inFragment = /[ "<>`]/;
const inQuery = /[ "#<>]/;
const inSpecialQuery = /[ "#<>']/;
const inPath = /[ "#<>?^`{}]/;
const inUser = /[ "#<>?`{}/:;=@[\\\]^|]/;
const inOpaque = /[^ -~]/;

const notDecoded = /%(?![0-9a-f]{2})/i;

function decode(text) {
  if (!text.includes("%")) return text;
  const bytes = [];
  for (let i = 0; i < text.length; i++) {
    if (text[i] === "%" && !notDecoded.test(text.slice(i, i + 3))) {
      bytes.push(parseInt(text.slice(i + 1, i + 3), 16));
      i += 2;
    } else {
      const character = String.fromCodePoint(text.codePointAt(i));
      bytes.push(...encoder.encode(character));
      i += character.length - 1;
    }
  }
  return new TextDecoder().decode(Uint8Array.from(bytes));
}

// ---- hosts

function hostOf(text, special) {
  if (text.startsWith("[")) return text.endsWith("]") ? `[${v6Of(text.slice(1, -1))}]` : invalid(text);
  if (!special) return /[\0\t\n\r #/<>?@[\\\]^|]/.test(text) ? invalid(text) : encode(text, inOpaque);
  const name = decode(text).toLowerCase();
  if (!/^[!-~]+$/.test(name)) throw new TypeError(`Invalid URL: the host ${name} has characters beyond ASCII: write it in Punycode`);
  if (/[#/:<>?@[\\\]^|%]/.test(name)) return invalid(text);
  return v4Of(name) ?? name;
}

function invalid(text) {
  throw new TypeError(`Invalid URL: ${text}`);
}

/** The number that a part of an IPv4 address is; NaN for none. */
function v4Part(part) {
  if (/^0x[0-9a-f]*$/.test(part)) return parseInt(part.slice(2) || "0", 16);
  if (/^0[0-7]*$/.test(part)) return parseInt(part, 8);
  return /^[0-9]+$/.test(part) ? Number(part) : NaN;
}

/** The usual form of an IPv4 address; undefined for a name. */
function v4Of(name) {
  const parts = name.split(".");
  if (parts.at(-1) === "" && parts.length > 1) parts.pop();
  if (!/^([0-9]+|0x[0-9a-f]*)$/.test(parts.at(-1))) return undefined;
  const numbers = parts.map(v4Part);
  const last = numbers.pop();
  if (parts.length > 4 || !(last < 256 ** (5 - parts.length)) || numbers.some((n) => !(n <= 255))) return invalid(name);
  const address = numbers.reduce((sum, n, i) => sum + n * 256 ** (3 - i), last);
  return [24, 16, 8, 0].map((shift) => Math.floor(address / 2 ** shift) % 256).join(".");
}

function v6Of(text) {
  const [head, tail, ...more] = text.split("::");
  const pieces = (part = "") => part.split(":").flatMap((piece, i, all) => v6Piece(piece, i === all.length - 1, text));
  const first = head === "" && tail !== undefined ? [] : pieces(head);
  const last = tail === undefined || tail === "" ? [] : pieces(tail);
  const missing = 8 - first.length - last.length;
  if (more.length > 0 || (tail === undefined ? missing !== 0 : missing < 1)) return invalid(text);
  const all = [...first, ...Array(missing).fill(0), ...last];
  return shortest(all);
}

function v6Piece(piece, isLast, text) {
  if (isLast && piece.includes(".")) {
    const parts = piece.split(".");
    if (parts.length !== 4 || parts.some((part) => !/^(0|[1-9][0-9]{0,2})$/.test(part) || part > 255)) return invalid(text);
    return [parts[0] * 256 + +parts[1], parts[2] * 256 + +parts[3]];
  }
  return /^[0-9a-f]{1,4}$/i.test(piece) ? [parseInt(piece, 16)] : invalid(text);
}

/** An IPv6 address in which the first longest run of zeros is left out. */
function shortest(pieces) {
  let [start, length] = [-1, 1];
  for (let i = 0; i < 8; i++) {
    let n = 0;
    while (pieces[i + n] === 0) n++;
    if (n > length) [start, length] = [i, n];
  }
  const text = pieces.map((piece) => piece.toString(16));
  if (start < 0) return text.join(":");
  return `${text.slice(0, start).join(":")}::${text.slice(start + length).join(":")}`;
}

// ---- parsing

/** Takes dot segments out of a path, of which base has the segments before. */
function pathOf(text, base, special) {
  const segments = [...base];
  const parts = text.split(special ? /[/\\]/ : "/");
  parts.forEach((part, i) => {
    const isLast = i === parts.length - 1;
    if (/^(\.|%2e){2}$/i.test(part)) {
      segments.pop();
      if (isLast) segments.push("");
    } else if (/^(\.|%2e)$/i.test(part)) {
      if (isLast) segments.push("");
    } else segments.push(encode(part, inPath));
  });
  return segments;
}

function portOf(text, protocol) {
  if (!/^[0-9]*$/.test(text) || Number(text) > 65535) return invalid(`the port ${text}`);
  return text === "" || String(Number(text)) === ports[protocol] ? "" : String(Number(text));
}

function authority(url, text) {
  const special = isSpecial(url.protocol);
  const at = text.lastIndexOf("@");
  const [user, ...password] = text.slice(0, Math.max(at, 0)).split(":");
  const [, host, port] = /^(\[[^\]]*\]|[^:]*)(?::(.*))?$/s.exec(text.slice(at + 1)) ?? invalid(text);
  if (host === "" && (special ? url.protocol !== "file:" : at >= 0 || port !== undefined)) return invalid(url.protocol + text);
  url.username = encode(user, inUser);
  url.password = encode(password.join(":"), inUser);
  url.host = host === "" ? "" : hostOf(host, special);
  if (url.protocol === "file:" && url.host === "localhost") url.host = "";
  url.port = portOf(port ?? "", url.protocol);
  return url;
}

function parse(input, base) {
  const text = input.toWellFormed().replace(/^[\0- ]+|[\0- ]+$/g, "").replace(/[\t\n\r]/g, "");
  const [, before, fragment] = /^([^#]*)(?:#(.*))?$/s.exec(text);
  const url = { username: "", password: "", host: null, port: "", query: null, fragment: null };
  const [, scheme, rest] = /^(?:([a-z][a-z0-9+.-]*):)?(.*)$/is.exec(before);
  const protocol = scheme && `${scheme.toLowerCase()}:`;
  if (fragment !== undefined) url.fragment = encode(fragment, inFragment);
  if (protocol !== undefined && !continues(protocol, rest, base)) return absolute(url, protocol, rest);
  return base ? follow(url, rest, base, text) : invalid(text);
}

/** Whether what follows a protocol is relative to a base of the same protocol, as in http:path. */
const continues = (protocol, rest, base) => protocol === base?.protocol && isSpecial(protocol) && !/^[/\\]{2}/.test(rest);

function absolute(url, protocol, rest) {
  url.protocol = protocol;
  const special = isSpecial(protocol);
  const [, path, query] = /^([^?]*)(?:\?(.*))?$/s.exec(rest);
  setQuery(url, query);
  let found;
  if (special && protocol !== "file:") found = /^[/\\]*([^/\\]*)(.*)$/s.exec(path);
  else if (special) found = /^[/\\]{2}([^/\\]*)(.*)$/s.exec(path);
  else found = /^\/\/([^/]*)(.*)$/s.exec(path);
  if (found) {
    authority(url, found[1]);
    return setPath(url, found[2]);
  }
  if (protocol === "file:") {
    url.host = "";
    return setPath(url, path);
  }
  if (path.startsWith("/")) return setPath(url, path);
  url.opaque = encode(path, inOpaque);
  return url;
}

function setQuery(url, query) {
  if (query !== undefined) url.query = encode(query, isSpecial(url.protocol) ? inSpecialQuery : inQuery);
}

function setPath(url, text) {
  const special = isSpecial(url.protocol);
  if (text === "" && !special) url.path = [];
  else url.path = pathOf(text.replace(special ? /^[/\\]/ : /^\//, ""), [], special);
  return url;
}

function follow(url, rest, base, text) {
  if (base.opaque !== undefined) {
    if (rest !== "" || url.fragment === null) return invalid(text);
    return { ...base, fragment: url.fragment };
  }
  url.protocol = base.protocol;
  const special = isSpecial(url.protocol);
  const [, path, query] = /^([^?]*)(?:\?(.*))?$/s.exec(rest);
  const slash = special ? /^[/\\]/ : /^\//;
  if (slash.test(path) && slash.test(path.slice(1))) return absolute(url, url.protocol, rest);
  const { username, password, host, port } = base;
  Object.assign(url, { username, password, host, port });
  if (slash.test(path)) setPath(url, path);
  else if (path === "") url.path = [...base.path];
  else url.path = pathOf(path, base.path.slice(0, -1), special);
  if (query === undefined && path === "") url.query = base.query;
  setQuery(url, query);
  return url;
}

// ---- URL

class URL {
  #url;
  #params;

  constructor(url, base) {
    this.#url = parse(String(url), base === undefined ? undefined : parse(String(base)));
  }

  static canParse(url, base) {
    return URL.parse(url, base) !== null;
  }

  static parse(url, base) {
    try {
      return new URL(url, base);
    } catch {
      return null;
    }
  }

  get href() {
    const { fragment } = this.#url;
    return `${this.protocol}${this.#authority}${this.#guard}${this.pathname}${this.#search}${fragment === null ? "" : `#${fragment}`}`;
  }

  set href(text) {
    this.#url = parse(String(text));
    this.#params?.[update](this.#url.query);
  }

  get #authority() {
    const { username, password, host } = this.#url;
    if (host === null) return "";
    const user = username || password ? `${username}${password ? `:${password}` : ""}@` : "";
    return `//${user}${this.host}`;
  }

  /** What keeps a path without a host from being read as one. */
  get #guard() {
    return this.#url.host === null && this.#url.path?.length > 1 && this.#url.path[0] === "" ? "/." : "";
  }

  get #search() {
    return this.#url.query === null ? "" : `?${this.#url.query}`;
  }

  get origin() {
    return isSpecial(this.protocol) && this.protocol !== "file:" ? `${this.protocol}//${this.host}` : "null";
  }

  get protocol() {
    return this.#url.protocol;
  }

  set protocol(text) {
    const [, scheme] = /^([a-z][a-z0-9+.-]*):?/i.exec(String(text)) ?? [];
    const protocol = scheme && `${scheme.toLowerCase()}:`;
    if (!protocol || isSpecial(protocol) !== isSpecial(this.protocol)) return;
    this.#url.protocol = protocol;
    if (this.#url.port === ports[protocol]) this.#url.port = "";
  }

  get username() {
    return this.#url.username;
  }

  set username(text) {
    if (this.#url.host) this.#url.username = encode(String(text), inUser);
  }

  get password() {
    return this.#url.password;
  }

  set password(text) {
    if (this.#url.host) this.#url.password = encode(String(text), inUser);
  }

  get host() {
    return `${this.#url.host ?? ""}${this.#url.port && `:${this.#url.port}`}`;
  }

  set host(text) {
    const [, host, port] = /^(\[[^\]]*\]|[^:/?#\\]*)(?::([0-9]*))?/.exec(String(text));
    this.hostname = host;
    if (port) this.port = port;
  }

  get hostname() {
    return this.#url.host ?? "";
  }

  set hostname(text) {
    if (this.#url.opaque !== undefined || String(text) === "") return;
    try {
      this.#url.host = hostOf(String(text), isSpecial(this.protocol));
    } catch {} // an invalid one is ignored
  }

  get port() {
    return this.#url.port;
  }

  set port(text) {
    const [digits] = /^[0-9]*/.exec(String(text));
    if (digits === "" && String(text) !== "") return;
    if (this.#url.host && Number(digits) <= 65535) this.#url.port = portOf(digits, this.protocol);
  }

  get pathname() {
    return this.#url.opaque ?? this.#url.path.map((segment) => `/${segment}`).join("");
  }

  set pathname(text) {
    if (this.#url.opaque === undefined) setPath(this.#url, String(text).replace(/\?/g, "%3F").replace(/#/g, "%23"));
  }

  get search() {
    return this.#url.query ? `?${this.#url.query}` : "";
  }

  set search(text) {
    const query = String(text).replace(/^\?/, "").replace(/#/g, "%23");
    this.#url.query = null;
    if (query !== "") setQuery(this.#url, query);
    this.#params?.[update](this.#url.query);
  }

  get searchParams() {
    if (!this.#params) {
      this.#params = new URLSearchParams(this.#url.query ?? "");
      this.#params[onChange] = (query) => {
        this.#url.query = query === "" ? null : query;
      };
    }
    return this.#params;
  }

  get hash() {
    return this.#url.fragment ? `#${this.#url.fragment}` : "";
  }

  set hash(text) {
    const fragment = String(text).replace(/^#/, "");
    this.#url.fragment = fragment === "" ? null : encode(fragment, inFragment);
  }

  toString() {
    return this.href;
  }

  toJSON() {
    return this.href;
  }
}

// ---- URLSearchParams

const update = Symbol("update");
const onChange = Symbol("onChange");
const formEncode = (text) => encode(String(text), /[^A-Za-z0-9*._ -]/).replace(/ /g, "+");
const formDecode = (text) => decode(text.replace(/\+/g, " "));

class URLSearchParams {
  #pairs = [];

  constructor(init = "") {
    Object.defineProperty(this, onChange, { value: undefined, writable: true });
    if (typeof init !== "object" || init === null) return this[update](String(init).replace(/^\?/, ""));
    for (const pair of init[Symbol.iterator] ? init : Object.entries(init)) {
      const [name, value, ...more] = pair;
      if (value === undefined || more.length > 0) throw new TypeError("URLSearchParams: a pair has a name and a value");
      this.#pairs.push([String(name), String(value)]);
    }
  }

  [update](query) {
    this.#pairs = (query ?? "").split("&").filter(Boolean).map((pair) => {
      const [name, ...value] = pair.split("=");
      return [formDecode(name), formDecode(value.join("="))];
    });
  }

  #changed() {
    this[onChange]?.(this.toString());
  }

  get size() {
    return this.#pairs.length;
  }

  append(name, value) {
    this.#pairs.push([String(name), String(value)]);
    this.#changed();
  }

  delete(name, value) {
    this.#pairs = this.#pairs.filter(([n, v]) => n !== String(name) || (value !== undefined && v !== String(value)));
    this.#changed();
  }

  get(name) {
    return this.#pairs.find(([n]) => n === String(name))?.[1] ?? null;
  }

  getAll(name) {
    return this.#pairs.filter(([n]) => n === String(name)).map(([, value]) => value);
  }

  has(name, value) {
    return this.#pairs.some(([n, v]) => n === String(name) && (value === undefined || v === String(value)));
  }

  set(name, value) {
    const at = this.#pairs.findIndex(([n]) => n === String(name));
    if (at < 0) return this.append(name, value);
    this.#pairs[at] = [String(name), String(value)];
    this.#pairs = this.#pairs.filter(([n], i) => i <= at || n !== String(name));
    this.#changed();
  }

  sort() {
    this.#pairs.sort(([a], [b]) => (a < b ? -1 : a > b ? 1 : 0));
    this.#changed();
  }

  forEach(callback, self) {
    for (const [name, value] of this) callback.call(self, value, name, this);
  }

  keys() {
    return this.#pairs.map(([name]) => name).values();
  }

  values() {
    return this.#pairs.map(([, value]) => value).values();
  }

  entries() {
    return this.#pairs.map(([name, value]) => [name, value]).values();
  }

  [Symbol.iterator]() {
    return this.entries();
  }

  toString() {
    return this.#pairs.map((pair) => pair.map(formEncode).join("=")).join("&");
  }
}

Object.assign(globalThis, { URL, URLSearchParams });
