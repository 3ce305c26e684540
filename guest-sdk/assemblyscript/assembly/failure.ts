import * as abi from "./abi";
import { Encoder } from "./encoder";
import { Level, write } from "./log";

/** What a read answers: a `Content`, several `Contents`, or a `Failure`. */
export abstract class Reply {}

/** The classes of failure. */
export namespace Code {
  export const NotFound: u32 = abi.CODE_NOT_FOUND;
  export const Invalid: u32 = abi.CODE_INVALID_PARAMS;
  export const Denied: u32 = abi.CODE_DENIED;
  export const Unavailable: u32 = abi.CODE_UNAVAILABLE;
  export const Cancelled: u32 = abi.CODE_CANCELLED;
  export const Deadline: u32 = abi.CODE_DEADLINE;
  export const TooLarge: u32 = abi.CODE_TOO_LARGE;
  export const Unsupported: u32 = abi.CODE_UNSUPPORTED;
  export const Internal: u32 = abi.CODE_INTERNAL;
}

/**
 * A Failure is an answer that says why there is none. The client reads message and data: put no secrets there. Its
 * methods return it, so that they chain.
 */
export class Failure extends Reply {
  private json: string = "";
  private cause: string = "";
  private after: i64 = 0;

  /** `code` is one of `Code`; anything else counts as `Code.Internal`. An empty message stands for the host's words. */
  constructor(readonly code: u32, readonly message: string = "") {
    super();
    if (code == abi.CODE_OK || code >= abi.CODE_INPUT_REQUIRED) this.code = abi.CODE_INTERNAL;
  }

  /** Says more to programs, with a JSON object. */
  data(json: string): Failure {
    this.json = json;
    return this;
  }

  /** With `Code.Unavailable`: says after how many milliseconds it may work. */
  retryAfter(ms: i64): Failure {
    this.after = ms;
    return this;
  }

  /** Says why, to the operator's log only. */
  because(cause: string): Failure {
    this.cause = cause;
    return this;
  }

  /** @internal Adds what the client may know as a field of a reply, and writes the rest to the log. */
  encode(to: Encoder): void {
    if (this.cause.length > 0) write(Level.Warn, this.cause);
    if (this.message.length == 0 && this.json.length == 0 && this.after <= 0) return;
    const error = to.begin(5);
    to.text(1, this.message).text(2, this.json).number(3, max<i64>(this.after, 0)).end(error);
  }
}

/** There is no such resource. */
export function notFound(message: string = ""): Failure { return new Failure(Code.NotFound, message); }

/** The request makes no sense, as with a number that is none. */
export function invalid(message: string = ""): Failure { return new Failure(Code.Invalid, message); }

/** The asker may not have this. */
export function denied(message: string = ""): Failure { return new Failure(Code.Denied, message); }

/** It may work later: after so many milliseconds, or 0 when that is unknown. */
export function unavailable(message: string = "", retryAfter: i64 = 0): Failure {
  return new Failure(Code.Unavailable, message).retryAfter(retryAfter);
}

/** The provider failed. */
export function internal(message: string = ""): Failure { return new Failure(Code.Internal, message); }
