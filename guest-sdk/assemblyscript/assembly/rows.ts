import * as abi from "./abi";
import { Decoder } from "./decoder";
import { Failure, internal } from "./failure";
import { decimal, fits, isDecimal, parseWhole, wasWhole } from "./number";
import * as out from "./out";
import * as service from "./service";
import { decodeText, utf8 } from "./text";

const COLUMNS: i32 = 1000; // that a statement may have

/** The kinds of values. What is none of them, as a time or a decimal, is text in the database's own form. */
export namespace SQLKind {
  export const Null: u32 = abi.SQL_NULL;
  export const Bool: u32 = abi.SQL_BOOL;
  export const Int: u32 = abi.SQL_INT;
  export const Float: u32 = abi.SQL_FLOAT;
  export const Text: u32 = abi.SQL_TEXT;
  export const Bytes: u32 = abi.SQL_BYTES;
}

/** A Column describes the values of one column. */
export class Column {
  /** `type` is what the database calls it; empty when it does not say. */
  constructor(readonly name: string, readonly type: string) {}
}

/**
 * Rows are what a statement gives, read one by one: `next` goes to a row, and the other methods give its values, by the
 * index of the column. A value that is not of the type that is asked for, or in no column there is, has the request
 * fail as internal whatever the handler answers, with the reason in the log.
 */
export class Rows {
  readonly columns: Column[] = [];
  /** What ended the rows before their end; null for nothing. A handler may answer it. */
  failure: Failure | null = null;

  private part: StaticArray<u8> = new StaticArray<u8>(0);
  private unread: Decoder = new Decoder(0, 0); // of part
  private stream: u64 = 0; // by which the host gives the next part; 0 when there is none
  private row: Decoder = new Decoder(0, 0);
  private cell: Decoder = new Decoder(0, 0);
  private cells: Cell[] = []; // of the row; there are as many as columns
  private isAtRow: bool = false;

  /** @internal Takes what the host has answered with this code. */
  constructor(code: u32) {
    this.load(code, true);
    for (let i = 0; i < this.columns.length; i++) this.cells.push(new Cell());
  }

  /** Goes to the next row, the first one at first. False at the end, and when something went wrong: see `failure`. */
  next(): bool {
    this.isAtRow = false;
    while (this.failure === null) {
      while (this.unread.next()) if (this.unread.field == 2) return this.isAtRow = this.read();
      if (this.stream == 0) break;
      service.request().number(1, this.stream);
      this.load(service.call(abi.SERVICE_SQL_ROWS), false);
    }
    return false;
  }

  /** The index of the column by this name; -1 when there is none. */
  column(name: string): i32 {
    for (let i = 0; i < this.columns.length; i++) if (this.columns[i].name == name) return i;
    return -1;
  }

  /** One of `SQLKind`. */
  kind(column: i32): u32 {
    const cell = this.at(column);
    return cell !== null ? cell.kind : SQLKind.Null;
  }

  isNull(column: i32): bool { return this.kind(column) == SQLKind.Null; }

  /** Any value as a text: numbers in decimals, `true` or `false`, bytes as UTF-8, and nothing for null. */
  text(column: i32): string {
    const cell = this.at(column);
    if (cell === null) return "";
    switch (cell.kind) {
      case SQLKind.Null: return "";
      case SQLKind.Bool: return (cell.number != 0).toString();
      case SQLKind.Int: return cell.number.toString();
      case SQLKind.Float: return decimal(cell.float);
    }
    return decodeText(cell.bytes, cell.length);
  }

  /** Bytes, or any other value as the UTF-8 of its text. */
  bytes(column: i32): Uint8Array {
    if (this.kind(column) != SQLKind.Bytes) return utf8(this.text(column));
    const cell = this.cells[column];
    const copy = new Uint8Array(cell.length);
    memory.copy(copy.dataStart, cell.bytes, cell.length);
    return copy;
  }

  /** A truth value, or a whole number that is not 0. */
  bool(column: i32): bool {
    const kind = this.kind(column);
    if (kind == SQLKind.Bool || kind == SQLKind.Int) return this.cells[column].number != 0;
    this.refuse(column, "is not a truth value");
    return false;
  }

  /** A whole number that fits the type, as in `rows.int(0)` or `rows.int<i32>(0)`; it may be written as a text. */
  int<T extends number = i64>(column: i32): T {
    const kind = this.kind(column);
    const isWhole = kind == SQLKind.Int || kind == SQLKind.Bool;
    const value = isWhole ? this.cells[column].number : kind == SQLKind.Text ? parseWhole(this.text(column)) : 0;
    if ((isWhole || kind == SQLKind.Text && wasWhole) && fits<T>(value)) return <T>value;
    this.refuse(column, "is not a whole number, or does not fit");
    return <T>0;
  }

  /** A number, which may be written as a text. */
  float(column: i32): f64 {
    const kind = this.kind(column);
    if (kind == SQLKind.Float) return this.cells[column].float;
    if (kind == SQLKind.Int) return <f64>this.cells[column].number;
    if (kind == SQLKind.Text && isDecimal(this.text(column))) return parseFloat(this.text(column));
    this.refuse(column, "is not a number");
    return 0;
  }

  private at(column: i32): Cell | null {
    if (this.isAtRow && column >= 0 && column < this.cells.length) return this.cells[column];
    this.refuse(column, this.isAtRow ? "is not there" : "is asked for without a row");
    return null;
  }

  /** What a database holds is none of the client's business. */
  private refuse(column: i32, why: string): void {
    const name = column >= 0 && column < this.columns.length ? this.columns[column].name : column.toString();
    out.fail(internal().because(`column ${name} ${why}`));
  }

  /** Takes what the host has answered with this code. Only the first answer has columns. */
  private load(code: u32, isFirst: bool): void {
    if (code != abi.CODE_OK) return this.stop(new Failure(code));
    const length = <i32>service.size();
    if (length > this.part.length) this.part = new StaticArray<u8>(length);
    const d = service.responseAt(changetype<usize>(this.part));
    this.stream = 0;
    while (d.next() && this.columns.length <= COLUMNS) {
      if (d.field == 1 && isFirst) this.columns.push(columnOf(d));
      else if (d.field == 3) this.stream = d.number();
    }
    if (!d.ok || this.columns.length > COLUMNS) return this.stop(internal());
    this.unread = new Decoder(changetype<usize>(this.part), changetype<usize>(this.part) + length);
  }

  /** Reads the row that `unread` is at. */
  private read(): bool {
    const row = this.row.enter(this.unread);
    let count = 0;
    while (row.next()) {
      if (row.field != 1) continue;
      if (count == this.cells.length || !this.cells[count++].read(this.cell.enter(row))) row.ok = false;
    }
    if (row.ok && this.unread.ok && count == this.cells.length) return true;
    this.stop(internal());
    return false;
  }

  private stop(why: Failure): void {
    this.failure = why;
    this.stream = 0;
    this.unread = new Decoder(0, 0);
  }
}

/** A Cell is a value of the row that the rows are at. */
class Cell {
  kind: u32 = 0;
  number: i64 = 0;
  float: f64 = 0;
  bytes: usize = 0; // of a text, or bytes: where they begin
  length: u32 = 0;

  /** Says whether the value was well formed. */
  read(d: Decoder): bool {
    this.kind = SQLKind.Null;
    this.number = 0;
    this.float = 0;
    this.length = 0;
    while (d.next()) {
      switch (d.field) {
        case 1: this.kind = d.small(); break;
        case 2: this.number = <i64>d.number(); break;
        case 3: this.float = d.double(); break;
        case 4: case 5: this.bytes = d.blob(); this.length = d.size; break;
      }
    }
    return d.ok && this.kind <= SQLKind.Bytes;
  }
}

function columnOf(outer: Decoder): Column {
  const d = outer.message();
  let name = "";
  let type = "";
  while (d.next()) {
    if (d.field == 1) name = d.text();
    else if (d.field == 2) type = d.text();
  }
  outer.ok = outer.ok && d.ok;
  return new Column(name, type);
}
