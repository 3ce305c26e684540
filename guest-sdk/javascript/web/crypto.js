// The part of crypto that makes random values. They are those of Math.random: fit for identifiers, not for secrets.

function getRandomValues(array) {
  if (!ArrayBuffer.isView(array) || array instanceof Float32Array || array instanceof Float64Array) {
    throw new TypeError("getRandomValues: the argument is no array of integers");
  }
  const bytes = new Uint8Array(array.buffer, array.byteOffset, array.byteLength);
  if (bytes.length > 65536) throw new DOMException("getRandomValues: at most 65536 bytes", "QuotaExceededError");
  for (let i = 0; i < bytes.length; i++) bytes[i] = Math.random() * 256;
  return array;
}

function randomUUID() {
  const bytes = getRandomValues(new Uint8Array(16));
  bytes[6] = (bytes[6] & 0x0f) | 0x40; // version 4
  bytes[8] = (bytes[8] & 0x3f) | 0x80; // variant of RFC 9562
  const hex = Array.from(bytes, (byte) => byte.toString(16).padStart(2, "0")).join("");
  return [hex.slice(0, 8), hex.slice(8, 12), hex.slice(12, 16), hex.slice(16, 20), hex.slice(20)].join("-");
}

globalThis.crypto = { getRandomValues, randomUUID };
