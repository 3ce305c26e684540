// What services of the host are asked. The shapes of messages are those of engine/message.c.
import * as host from "wasmres:host";
import * as abi from "./abi.js";
import { failureOf } from "./failure.js";
import { asBytes, kindOf } from "./out.js";

const usually = {
  [abi.CODE_DENIED]: "it is not granted",
  [abi.CODE_UNAVAILABLE]: "it may work later",
  [abi.CODE_CANCELLED]: "nobody waits for it any longer",
  [abi.CODE_DEADLINE]: "it has taken too long",
  [abi.CODE_TOO_LARGE]: "it is larger than granted",
};

/**
 * Asks a service, and gives the fields of its answer. Another code than ok is thrown, as what was asked for and why it
 * was not answered, for which why has words of the service's own.
 */
export function ask(service, [asked, answered], fields, what, why = {}) {
  const answer = host.call(service, asked, fields, answered);
  if (typeof answer === "number") fail(answer, what, why);
  return answer;
}

function fail(code, what, why) {
  throw failureOf(code, `${what}: ${why[code] ?? usually[code] ?? "the host failed"}`);
}

/** The bytes that a service is handed: of a string, as UTF-8, or of what holds bytes. The name is for the error. */
export function bytesOf(value, name) {
  const bytes = typeof value === "string" ? host.encode(value) : asBytes(value);
  if (bytes) return bytes;
  throw new TypeError(`${name} is ${kindOf(value)}, not a string or a Uint8Array`);
}

/** Throws when an answer contradicts itself. */
export function expect(consistent, what) {
  if (!consistent) fail(abi.CODE_INTERNAL, what, {});
}
