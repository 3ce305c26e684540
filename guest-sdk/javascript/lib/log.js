// The log of the host, for operators: clients never see it.
import * as host from "wasmres:host";
import * as abi from "./abi.js";
import { located } from "./stack.js";

/** Writes a value as people read it. */
function shown(value) {
  if (typeof value === "string") return value;
  if (value instanceof Error) return value.stack ? `${value}\n${located(value.stack)}` : String(value);
  if (typeof value !== "object" || value === null) return String(value);
  try {
    return JSON.stringify(value, plain) ?? String(value);
  } catch {
    return Object.prototype.toString.call(value); // it refers to itself
  }
}

/** What JSON has no words for. */
function plain(key, value) {
  if (typeof value === "bigint") return `${value}n`;
  if (value instanceof Map || value instanceof Set) return [...value];
  return value;
}

const at = (level) => (...values) => host.log(level, values.map(shown).join(" "));

export const log = Object.freeze({
  debug: at(abi.LOG_DEBUG),
  info: at(abi.LOG_INFO),
  warn: at(abi.LOG_WARN),
  error: at(abi.LOG_ERROR),
});

globalThis.console = {
  ...log,
  log: log.info,
  trace: log.debug,
  dir: (value) => log.info(value),
  table: (value) => log.info(value),
  group: log.info,
  groupCollapsed: log.info,
  groupEnd() {},
  assert(condition, ...values) {
    if (!condition) log.error("assertion failed", ...values);
  },
};
