import * as abi from "./abi";
import { log as hostLog } from "./host";
import { encodeText } from "./text";

export namespace Level {
  export const Debug: u32 = abi.LOG_DEBUG;
  export const Info: u32 = abi.LOG_INFO;
  export const Warn: u32 = abi.LOG_WARN;
  export const Error: u32 = abi.LOG_ERROR;
}

const LINE: u32 = 1024; // where the host cuts a line
const line = memory.data(3 * 1024);

/** Lines for the operator's log. Clients never see them. The host cuts a line after 1 KiB. */
export namespace log {
  export function debug(message: string): void { write(Level.Debug, message); }
  export function info(message: string): void { write(Level.Info, message); }
  export function warn(message: string): void { write(Level.Warn, message); }
  export function error(message: string): void { write(Level.Error, message); }
}

export function write(level: u32, message: string): void {
  const length = encodeText(changetype<usize>(message), min<u32>(message.length, LINE), line);
  hostLog(level, line, length);
}
