// Querying databases.
import * as abi from "./abi.js";
import { asBytes, kindOf } from "./out.js";
import { ask, expect } from "./service.js";

const shapes = ["ssvn", "(ss)(v)u"];
const streamShapes = ["u", "(ss)(v)u"];
const why = {
  [abi.CODE_INVALID_PARAMS]: "the statement or its arguments make no sense",
  [abi.CODE_UNAVAILABLE]: "it cannot be reached, or has too much to do",
  [abi.CODE_DEADLINE]: "the statement has taken too long",
  [abi.CODE_TOO_LARGE]: "that is more than granted",
};

export const query = (connection, statement, ...args) => new Rows(connection, statement, args, 0);

export function queryRow(connection, statement, ...args) {
  const [row] = new Rows(connection, statement, args, 1);
  return row;
}

class Rows {
  #what;
  #part; // rows that have arrived
  #at = 0; // the next one of them
  #stream; // of the parts after it; 0 for none

  constructor(connection, statement, args, most) {
    this.#what = `the database ${connection}`;
    const fields = [connection, statement, args.map(argument), most];
    const [columns = [], ...rest] = ask(abi.SERVICE_SQL, shapes, fields, this.#what, why);
    this.columns = columns.map(([name = "", type = ""]) => ({ name, type }));
    this.#take(rest);
  }

  #take([part = [], stream = 0n]) {
    this.#part = part;
    this.#at = 0;
    this.#stream = stream;
  }

  *[Symbol.iterator]() {
    const names = this.columns.map(({ name }) => name);
    for (const values of this.values()) {
      const row = Object.create(null);
      for (let i = 0; i < names.length; i++) row[names[i]] = values[i];
      yield row;
    }
  }

  *values() {
    for (;;) {
      while (this.#at < this.#part.length) {
        const [values = []] = this.#part[this.#at++];
        expect(values.length === this.columns.length, this.#what);
        yield values;
      }
      if (this.#stream === 0n) return;
      const [, ...rest] = ask(abi.SERVICE_SQL_ROWS, streamShapes, [this.#stream], this.#what, why);
      this.#take(rest);
    }
  }
}

/** What the engine makes a value of. */
function argument(value, i) {
  const bytes = asBytes(value);
  if (bytes) return bytes;
  if (value === null || ["boolean", "number", "string"].includes(typeof value)) return value;
  if (typeof value === "bigint" && BigInt.asIntN(64, value) === value) return value;
  const kind = typeof value === "bigint" ? "an integer of more than 64 bits" : kindOf(value);
  throw new TypeError(`argument ${i + 1} of the statement is ${kind}, which no database takes`);
}
