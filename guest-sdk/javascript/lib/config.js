// What the operator has configured.
import * as host from "wasmres:host";
import * as abi from "./abi.js";
import { failureOf } from "./failure.js";

/** A value of the configuration; undefined when there is none. */
export function config(key) {
  const answer = host.call(abi.SERVICE_CONFIG, "s", [key], "s");
  if (typeof answer !== "number") return answer[0] ?? "";
  if (answer === abi.CODE_NOT_FOUND || answer === abi.CODE_DENIED) return undefined;
  throw failureOf(answer, `the configuration of ${key} cannot be read`);
}

export const env = (name) => config(`env:${name}`);
