import * as abi from "./abi";
import { Encoder } from "./encoder";
import { Failure, notFound } from "./failure";
import { Rows } from "./rows";
import * as service from "./service";

/**
 * Begins a statement that reads, on a database the operator granted under a name:
 *
 *     const rows = query("main", "select id, name from users where born > $1").text("1900-01-01").rows();
 *     while (rows.next()) found.set(rows.int(0), rows.text(1));
 *     const failure = rows.failure;
 *     if (failure !== null) return failure;
 *
 * It needs the power `sql`: see `Provider.ask`. The statement is in the database's own words: parameters are `$1`, `$2`
 * for PostgreSQL, `?` for MySQL and MariaDB, and `?1`, `?2` for SQLite. The database lets nothing but reading through.
 */
export function query(connection: string, statement: string): Query { return new Query(connection, statement); }

/** A Query is a statement with its arguments, in their order. Its methods for these return it, so that they chain. */
export class Query {
  private args: Argument[] = [];

  /** @internal */
  constructor(private connection: string, private statement: string) {}

  /** Adds no value as an argument. */
  null(): this { return this.add(new Argument(abi.SQL_NULL)); }

  bool(value: bool): this { return this.add(new Argument(abi.SQL_BOOL, <i64>value)); }

  int(value: i64): this { return this.add(new Argument(abi.SQL_INT, value)); }

  float(value: f64): this { return this.add(new Argument(abi.SQL_FLOAT, 0, value)); }

  /** Adds a text. Decimals, times and arrays are texts, too, in the database's own form. */
  text(value: string): this { return this.add(new Argument(abi.SQL_TEXT, 0, 0, value)); }

  /** Adds bytes, which must not change before the query is run. */
  bytes(value: Uint8Array): this { return this.add(new Argument(abi.SQL_BYTES, 0, 0, "", value)); }

  /**
   * Runs the statement. Rows come as they are read, in parts: a table of any size takes little memory. A call may read
   * a few statements at the same time, and those it has not read to their end are over when it is.
   */
  rows(): Rows { return this.run(0); }

  /** Runs the statement for the first row, and goes to it. Without one `Rows.failure` is that it is not found. */
  first(): Rows {
    const rows = this.run(1);
    if (!rows.next() && rows.failure === null) rows.failure = notFound();
    return rows;
  }

  private run(most: u64): Rows {
    const request = service.request().text(1, this.connection).text(2, this.statement);
    for (let i = 0; i < this.args.length; i++) {
      if (!this.args[i].encode(request)) return new Rows(abi.CODE_TOO_LARGE);
    }
    request.number(4, most);
    return new Rows(service.call(abi.SERVICE_SQL));
  }

  private add(a: Argument): this {
    this.args.push(a);
    return this;
  }
}

class Argument {
  constructor(
    private kind: u32, private number: i64 = 0, private float: f64 = 0, private text: string = "",
    private bytes: Uint8Array | null = null,
  ) {}

  /** Adds this to a statement. False when it is larger than any request may be. */
  encode(to: Encoder): bool {
    const bytes = this.bytes;
    const length = bytes !== null ? bytes.length : this.text.length;
    if (<u32>length > abi.MAX_SERVICE) return false;
    const arg = to.begin(3);
    to.number(1, this.kind).number(2, this.number).text(4, this.text);
    if (this.float != 0) to.double(3, this.float);
    if (bytes !== null) to.blob(5, bytes.dataStart, length);
    to.end(arg);
    return true;
  }
}
