import * as abi from "./abi";
import { Failure, invalid } from "./failure";
import { fits, parseWhole, wasWhole } from "./number";
import * as out from "./out";
import * as service from "./service";
import { timeLeft } from "./time";

/** A Principal is the authenticated asker. wasmres knows none yet. */
export class Principal {
  subject: string = "";
  tenant: string = "";
  scopes: string[] = [];
  /** A JSON object; empty for none. */
  claims: string = "";
}

/** A Request is what a handler is asked. It is of no use after the handler has returned. */
export class Request {
  /** What is read or watched, or the directory that is listed; empty for lists; for completions the template. */
  uri: string = "";
  /** The request's `_meta`, a JSON object; empty for none. */
  meta: string = "";
  /** The first byte that is wanted, and how many; 0 for all. Set only when the route says `ranges`. */
  rangeOffset: i64 = 0;
  rangeLength: i64 = 0;
  /** The etag the asker has; empty for none. */
  ifNoneMatch: string = "";
  /** How many bytes the answer may have; 0 when unknown. wasmres does not tell yet. */
  maxBytes: i64 = 0;
  /** Who asks; null when nobody had to say. */
  principal: Principal | null = null;

  protected names: string[] = [];
  protected values: string[] = [];

  /** The decoded value of a template variable, or nothing when it is absent. */
  var(name: string): string {
    const i = this.names.indexOf(name);
    return i < 0 ? "" : this.values[i];
  }

  /** All values of a template variable that was exploded to a list, as in `{/path*}`. */
  vars(name: string): string[] {
    const found: string[] = [];
    for (let i = 0; i < this.names.length; i++) if (this.names[i] == name) found.push(this.values[i]);
    return found;
  }

  /**
   * A template variable as a whole number, as in `r.int("day")` or `r.int<i64>("size")`. If it is none, or does not
   * fit, this answers 0, and the request fails as invalid whatever the handler answers.
   */
  int<T extends number = i32>(name: string): T {
    const value = parseWhole(this.var(name));
    if (wasWhole && fits<T>(value)) return <T>value;
    this.fail(invalid(name + " is not a whole number: " + this.var(name)));
    return <T>0;
  }

  /** A value the operator configured; null when there is none. */
  config(key: string): string | null {
    service.request().text(1, key);
    if (service.call(abi.SERVICE_CONFIG) != abi.CODE_OK) return null;
    let value = "";
    const response = service.response();
    while (response.next()) if (response.field == 1) value = response.text();
    return response.ok ? value : null;
  }

  /** A variable of the host's environment that the operator granted; null when it is not granted, or not set. */
  env(name: string): string | null { return this.config("env:" + name); }

  /** Has the request end with this failure, whatever the handler answers. The first one counts. */
  fail(failure: Failure): void { out.fail(failure); }

  /** Tells the asker how far a long read has come. A total of 0 is unknown. */
  progress(done: f64, total: f64 = 0, message: string = ""): void {
    const progress = out.frame.begin(15);
    if (done > 0) out.frame.double(1, done);
    if (total > 0) out.frame.double(2, total);
    out.frame.text(3, message).end(progress);
    out.flush();
  }

  /** Whether nobody waits any longer or the time is over. Long loops ask now and then, and return anything. */
  over(): bool {
    if (out.stopped()) return true;
    if (timeLeft() > 0) return false;
    this.fail(new Failure(abi.CODE_DEADLINE));
    return true;
  }
}
