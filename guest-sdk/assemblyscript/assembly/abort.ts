import { log } from "./log";

/** What a program that gives up calls, as with `throw`: it leaves a line in the operator's log and traps. */
export function abort(message: string | null, file: string | null, line: u32, column: u32): void {
  const what = message === null ? "abort" : message;
  const where = file === null ? "" : ` at ${file}:${line}:${column}`;
  log.error(what + where);
  unreachable();
}
