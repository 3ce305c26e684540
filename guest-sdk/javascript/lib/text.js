// TextEncoder and TextDecoder, of UTF-8.
import * as host from "wasmres:host";
import { asBytes } from "./out.js";

class TextEncoder {
  get encoding() {
    return "utf-8";
  }

  encode(text = "") {
    return host.encode(String(text));
  }
}

/** How many bytes at the end are the beginning of a character that has not ended. */
function incomplete(bytes) {
  for (let n = 1; n <= Math.min(3, bytes.length); n++) {
    const byte = bytes[bytes.length - n];
    if (byte < 0x80) return 0;
    if (byte < 0xc0) continue; // in the middle of one
    const length = byte < 0xe0 ? 2 : byte < 0xf0 ? 3 : 4;
    return length > n ? n : 0;
  }
  return 0;
}

/** Throws when bytes are not the UTF-8 of what they were decoded to. */
function checkEncoding(text, bytes) {
  const encoded = host.encode(text);
  if (encoded.length === bytes.length && encoded.every((byte, i) => byte === bytes[i])) return;
  throw new TypeError("the encoded data was not valid utf-8");
}

class TextDecoder {
  #rest = new Uint8Array();
  #begun = false;

  constructor(label = "utf-8", { fatal = false, ignoreBOM = false } = {}) {
    if (!/^\s*utf-?8\s*$/i.test(label)) throw new RangeError(`there is no decoder for ${label}, only for utf-8`);
    this.fatal = fatal;
    this.ignoreBOM = ignoreBOM;
  }

  get encoding() {
    return "utf-8";
  }

  decode(input = new Uint8Array(), { stream = false } = {}) {
    let bytes = asBytes(input);
    if (!bytes) throw new TypeError("what is decoded is bytes");
    if (this.#rest.length > 0) {
      const joined = new Uint8Array(this.#rest.length + bytes.length);
      joined.set(this.#rest);
      joined.set(bytes, this.#rest.length);
      bytes = joined;
    }
    const end = bytes.length - (stream ? incomplete(bytes) : 0);
    this.#rest = bytes.slice(end);
    const text = host.decode(bytes.subarray(0, end));
    if (this.fatal && text.includes("\ufffd")) checkEncoding(text, bytes.subarray(0, end));
    const marked = !this.ignoreBOM && !this.#begun && text.startsWith("\ufeff");
    this.#begun = stream && (this.#begun || end > 0);
    return marked ? text.slice(1) : text;
  }
}

Object.defineProperties(globalThis, {
  TextEncoder: { value: TextEncoder, writable: true, configurable: true },
  TextDecoder: { value: TextDecoder, writable: true, configurable: true },
});
