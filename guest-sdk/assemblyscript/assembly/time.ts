import * as abi from "./abi";
import { info } from "./host";

const NANOS: i64 = 1_000_000;
const LATEST: i64 = 253_402_300_799_999; // the last millisecond of the year 9999

/** The host's wall-clock time in milliseconds since 1970-01-01 UTC. It stands still while the provider starts. */
export function now(): i64 { return info(abi.INFO_WALL_TIME) / NANOS; }

/** Milliseconds left for this call; 0 when it is over. */
export function timeLeft(): i64 { return <i64>(<u64>info(abi.INFO_DEADLINE) / <u64>NANOS); }

/** A time in milliseconds as RFC 3339; empty for 0, for times before 1970 and beyond the year 9999. */
export function stamp(ms: i64): string {
  return ms > 0 && ms <= LATEST ? new Date(ms).toISOString() : "";
}
