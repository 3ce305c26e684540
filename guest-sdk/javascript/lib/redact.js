// Keeps secrets out of what a provider shows: a mark takes the place of what is a secret by the name of a setting or by
// its shape. It finds what package redact of the SDK for Go finds, and is tested with the same values.

import { isSecretName, isSecretValue } from "./secretname.js";
import { isBasic, isServiceToken, tokenEnd } from "./secrettoken.js";

/** Stands in the place of a secret. */
const REDACTED = "[redacted]";

const WINDOW = 1024; // characters after a place that are looked at for what a value ends with
const BLANKS = " \t\r\n";
const QUOTES = "\"'`";

/** Gives the value of a setting: only a mark if its name says that it is a secret, otherwise what redactText gives. */
export function redactValue(name, value) {
  return isSecret(name, value) ? REDACTED : redactText(value);
}

/**
 * Whether a setting is a secret by its name. A value that cannot be one, as the length of a password, the path of its
 * file and a reference to a variable, is none.
 */
function isSecret(name, value) {
  return value.length > 0 && isSecretName(name) && isSecretValue(name, value);
}

/** Gives a text, of one line or many, with a mark in the place of each secret in it. */
export function redactText(text) {
  const s = new Scanner(text);
  s.pem();
  s.pairs();
  s.addresses();
  s.credentials();
  s.tokens();
  return s.marked();
}

/** Whether a character is a letter or a digit of ASCII. */
function isAlnum(c) { return c >= 48 && c <= 57 || (c | 32) >= 97 && (c | 32) <= 122; }

const isDigits = (text) => /^[0-9]+$/.test(text);

/** Whether a character may stand in a name. */
function isName(c) { return isAlnum(c) || c === 95 || c === 45 || c === 46; }

/** A Scanner finds secrets in a text. */
class Scanner {
  found = false;
  valueAt = 0; // what separated and value have found
  valueEnd = 0;

  constructor(text) {
    this.text = text;
    this.lower = lowered(text);
    this.secret = new Uint8Array(text.length); // 1 for each character that is
  }

  marked() {
    if (!this.found) return this.text;
    let shown = "";
    for (let at = 0; at < this.text.length;) {
      let end = at + 1;
      while (end < this.text.length && this.secret[end] === this.secret[at]) end++;
      shown += this.secret[at] ? REDACTED : this.text.substring(at, end);
      at = end;
    }
    return shown;
  }

  hide(from, to) {
    if (from < to) this.secret.fill(1, from, to);
    this.found = this.found || from < to;
  }

  isAny(at, among) { return at < this.text.length && among.includes(this.text.charAt(at)); }

  /** Gives the first place from one on with one of some characters, before `limit`; `limit` without any. */
  end(from, stop, limit = Infinity) {
    const last = Math.min(limit, this.text.length);
    while (from < last && !this.isAny(from, stop)) from++;
    return from;
  }

  skip(from) {
    while (this.isAny(from, " \t")) from++;
    return from;
  }

  /** Gives the last place before one that is no space, or 0. */
  back(at) {
    for (at--; at > 0 && this.isAny(at, " \t"); at--) continue;
    return Math.max(at, 0);
  }

  /** Hides blocks in PEM, to the end of the text if a block has none. */
  pem() {
    for (let at = 0; ;) {
      const from = this.text.indexOf("-----BEGIN ", at);
      if (from < 0) return;
      at = from + 11;
      const dashes = this.text.substring(at, at + 64).indexOf("-----");
      if (dashes >= 0 && isPublic(this.text.substring(at, at + dashes))) continue;
      let to = this.text.length;
      const end = this.text.indexOf("-----END ", at);
      if (end >= 0) {
        to = end + 9;
        const last = this.text.substring(to, to + 64).indexOf("-----");
        if (last >= 0) to += last + 5;
      }
      this.hide(from, to);
      at = to;
    }
  }

  /** Hides the values of secret names, as in Password=…, "token": "…", <secret>…</secret> and --password …. */
  pairs() {
    for (let at = 0; at < this.text.length;) {
      if (!isName(this.text.charCodeAt(at))) {
        at++;
        continue;
      }
      const from = at;
      while (at < this.text.length && isName(this.text.charCodeAt(at))) at++;
      const separator = this.separated(from, at);
      if (separator === 0) continue;
      const name = this.text.substring(from, at);
      if (!isSecretName(name)) continue;
      const value = this.valueAt;
      this.value(from, separator, value + WINDOW);
      if (!isSecret(name, this.text.substring(this.valueAt, this.valueEnd))) continue;
      this.valueAt = value;
      this.value(from, separator, Infinity);
      this.hide(this.valueAt, this.valueEnd);
      at = this.valueEnd;
    }
  }

  /** Finds where the value of a name begins, and gives what stands before it: =, :, > or a space; 0 for no value. */
  separated(from, to) {
    let at = to;
    if (this.isAny(at, QUOTES)) at++;
    if (this.isAny(at, "]")) at++;
    at = this.skip(at);
    if (at >= this.text.length) return 0;
    const c = this.text.charCodeAt(at);
    if (c === 61 || c === 58) {
      if (this.isAny(at + 1, "=>")) at++;
      if (c === 58 && this.text.substring(at, at + 3) === "://") return 0;
      this.valueAt = this.skip(at + 1);
      return c;
    }
    this.valueAt = at + 1;
    if (c === 62 && at === to && from > 0 && this.isAny(from - 1, "<:")) return c;
    this.valueAt = at;
    return this.text.substring(from, from + 2) === "--" && at > to ? 32 : 0;
  }

  /** Finds the end of a value that begins at `valueAt`, without its quotes, before `limit`. */
  value(name, separator, limit) {
    const at = this.valueAt;
    if (separator === 62) this.valueEnd = this.end(at, "<", limit);
    else if (this.isAny(at, QUOTES)) {
      this.valueAt = at + 1;
      this.valueEnd = this.quoted(at, limit);
    } else if (separator === 32) this.valueEnd = this.end(at, BLANKS, limit);
    else {
      const line = this.text.substring(at, this.end(at, "\r\n", at + WINDOW));
      if (line.includes(";")) this.valueEnd = this.end(at, ";\r\n", limit);
      else if (separator === 61 && line.includes("&")) this.valueEnd = this.end(at, "&" + BLANKS, limit);
      else if (this.isFirst(name) || name > 0 && this.isAny(this.back(name), ";") || isScheme(lowered(line))) {
        this.valueEnd = this.end(at, "\r\n", limit);
      } else this.valueEnd = this.end(at, BLANKS, limit);
    }
  }

  /** Gives where the text ends that a quote at a place begins, before `limit`; without another one at the line's end. */
  quoted(at, limit) {
    const quote = this.text.charCodeAt(at);
    const last = Math.min(limit, this.text.length);
    for (let i = at + 1; i < last; i++) {
      const c = this.text.charCodeAt(i);
      if (c === quote || c === 10) return i;
      if (c === 92 && !this.isAny(i + 1, "\n")) i++;
    }
    return last;
  }

  /** Whether nothing stands before a name in its line but what a list or a comment begins with. */
  isFirst(name) {
    for (name--; name >= 0 && this.text.charCodeAt(name) !== 10; name--) {
      if (!this.isAny(name, " \t-#*\"'[")) return false;
    }
    return true;
  }

  /** Hides the user information of URLs and of data source names, and the secret paths of web hooks. */
  addresses() {
    for (let at = 0; at < this.text.length; at++) {
      const c = this.text.charCodeAt(at);
      if (c === 58) {
        if (this.text.substring(at, at + 3) === "://") this.url(at);
        else this.account(at);
      } else if (c === 47 && this.before(at, 64).startsWith("jdbc:oracle:")) this.hide(at + 1, this.lastAt(at + 1));
    }
    this.hook("hooks.slack.com/services/");
    this.hook("/api/webhooks/");
    this.hook("/webhookb2/");
  }

  hook(path) {
    for (let at = 0; ;) {
      const from = this.lower.indexOf(path, at) + path.length;
      if (from < path.length) return;
      at = this.end(from, BLANKS + QUOTES + "<>");
      this.hide(from, at);
    }
  }

  /** Gives the run of characters before a place, in lower case, at most n of them. */
  before(at, n) {
    let from = at;
    while (from > 0 && at - from < n && !this.isAny(from - 1, BLANKS + QUOTES + "=<>(")) from--;
    return this.lower.substring(from, at);
  }

  /** Gives the place of the last @ in the run of characters from one on, or that one. */
  lastAt(from) {
    const run = this.text.substring(from, this.end(from, BLANKS + QUOTES + "<>", from + WINDOW));
    return from + Math.max(run.lastIndexOf("@"), 0);
  }

  /** Hides the user information of the URL whose :// is at a place. */
  url(at) {
    const from = at + 3;
    const authority = this.text.substring(from, this.end(from, BLANKS + QUOTES + "<>/?#", from + WINDOW));
    const colon = authority.indexOf(":");
    let to = from + Math.max(authority.lastIndexOf("@"), 0);
    if (colon >= 0 && !isDigits(authority.substring(colon + 1))) to = this.lastAt(from); // a password with slashes
    if (to === from) return;
    const scheme = this.before(at, 16);
    const isWeb = /(https?|wss?)$/.test(scheme);
    if (isWeb) this.hide(from, to);
    else if (colon >= 0) this.hide(from + colon + 1, to);
  }

  /** Hides the password of user:password@host, whose colon is at a place. */
  account(at) {
    let from = at;
    while (from > 0 && (isName(this.text.charCodeAt(from - 1)) || this.isAny(from - 1, "%"))) from--;
    if (from === at || from > 0 && this.isAny(from - 1, "/")) return;
    const to = this.lastAt(at + 1);
    if (to <= at + 1 || to + 1 >= this.text.length) return;
    if (ACCOUNTS.includes(" " + this.lower.substring(from, at) + " ")) return;
    const host = this.lower.substring(to + 1, to + 8);
    if (host === "sha256:" || host === "sha512:" || !isAlnum(host.charCodeAt(0)) && !host.startsWith("[")) return;
    if (this.text.substring(at + 1, at + 3) !== "//") this.hide(at + 1, to);
  }

  /** Hides what stands after Bearer and Basic. */
  credentials() {
    this.scheme("bearer");
    this.scheme("basic");
  }

  scheme(name) {
    for (let at = 0; ;) {
      const start = this.lower.indexOf(name, at);
      if (start < 0) return;
      at = start + name.length;
      const from = this.skip(at);
      if (from === at || start > 0 && isAlnum(this.text.charCodeAt(start - 1))) continue;
      const to = this.end(from, BLANKS + QUOTES + ",;<>");
      const word = this.text.substring(from, to);
      const isValue = start === 0 || this.isAny(this.back(start), "=:\"'`\n");
      if (name === "basic" ? isBasic(word) : isValue && word.length >= 4 || looksRandom(word)) this.hide(from, to);
    }
  }

  /** Hides words that begin as the tokens of a service do, and are as long. */
  tokens() {
    for (let at = 0; at < this.text.length;) {
      const to = tokenEnd(this.text, at);
      for (let i = at; i < to; i++) {
        if (i > at && isAlnum(this.text.charCodeAt(i - 1))) continue;
        if (!isServiceToken(this.text.substring(i, Math.min(to, i + WINDOW)))) continue;
        this.hide(i, to);
        break;
      }
      at = Math.max(to, at + 1);
    }
  }
}

// What stands before a colon where an @ follows and no password is between.
const ACCOUNTS = " mailto sip sips acct xmpp im npm pkg github git workspace file tel ";

function isPublic(label) {
  if (label.includes("PRIVATE")) return false;
  return label.includes("CERTIFICATE") || label.includes("PUBLIC") || label.includes("CRL");
}

/** Whether a value has two words, of which the second is the credential. */
function isScheme(value) {
  return value.startsWith("bearer ") || value.startsWith("basic ") || value.startsWith("digest ") ||
    value.startsWith("token ") || value.startsWith("apikey ") || value.startsWith("negotiate ") ||
    value.startsWith("aws4-hmac-sha256 ");
}

/** Whether a word is none of a language: it has a digit, or capital letters after small ones. */
function looksRandom(word) {
  if (word.length < 6) return false;
  for (let i = 0; i < word.length; i++) {
    const c = word.charCodeAt(i);
    if (c >= 48 && c <= 57 || "_+/=~".includes(word.charAt(i))) return true;
    if (i > 0 && c >= 65 && c <= 90 && word.charCodeAt(i - 1) >= 97 && word.charCodeAt(i - 1) <= 122) return true;
  }
  return false;
}

/** Gives a text with the letters of ASCII in lower case, of the same length. */
const lowered = (text) => text.replace(/[A-Z]+/g, (letters) => letters.toLowerCase());
