import { Decoder } from "./decoder";
import { Principal, Request } from "./request";

/** Asked is a request with what only the SDK reads of it. */
export class Asked extends Request {
  route: u32 = 0;
  cursor: string = "";
  limit: u32 = 0;
  argument: string = "";
  typed: string = "";

  /** Fills the request and says whether it was well formed. */
  decode(d: Decoder): bool {
    while (d.next() && this.set(d)) {}
    return d.ok;
  }

  private set(d: Decoder): bool {
    switch (d.field) {
      case 1: this.uri = d.text(); break;
      case 2: this.route = d.small(); break;
      case 3: return this.addVariable(d);
      case 4: this.cursor = d.text(); break;
      case 5: this.limit = d.small(); break;
      case 6: this.rangeOffset = positive(d.number()); break;
      case 7: this.rangeLength = positive(d.number()); break;
      case 8: this.ifNoneMatch = d.text(); break;
      case 9: this.maxBytes = positive(d.number()); break;
      case 10: this.argument = d.text(); break;
      case 11: this.typed = d.text(); break;
      case 12: return this.setPrincipal(d);
      case 13: this.meta = d.text(); break;
    }
    return d.ok;
  }

  private addVariable(outer: Decoder): bool {
    const d = outer.message();
    let name = "";
    let value = "";
    while (d.next()) {
      if (d.field == 1) name = d.text();
      else if (d.field == 2) value = d.text();
    }
    this.names.push(name);
    this.values.push(value);
    return outer.ok = outer.ok && d.ok;
  }

  private setPrincipal(outer: Decoder): bool {
    const d = outer.message();
    const p = new Principal();
    while (d.next()) {
      switch (d.field) {
        case 1: p.subject = d.text(); break;
        case 2: p.tenant = d.text(); break;
        case 3: p.scopes.push(d.text()); break;
        case 4: p.claims = d.text(); break;
      }
    }
    this.principal = p;
    return outer.ok = outer.ok && d.ok;
  }
}

/** A number of bytes as the handlers see it, which is never negative. */
function positive(value: u64): i64 { return <i64>min<u64>(value, i64.MAX_VALUE); }
