// A provider of what the SDK can do with powers and the kit does not ask for.

import {
  bytes, Change, Failure, fetch, internal, invalid, KVEntry, KVStore, provider, PutOptions, query, Reply, Request, Rows,
  text,
} from "../../../guest-sdk/assemblyscript";

export { wasmres_v1 } from "../../../guest-sdk/assemblyscript";

const more = provider("more", "1.0.0");
const store = new KVStore();

more.resource("more://crumbs", (): Reply => {
  const answer = fetch("https://a.example");
  const crumb = new Uint8Array(7);
  let all = "";
  let n = answer.read(crumb);
  for (; n > 0; n = answer.read(crumb)) all += `${n}:${String.UTF8.decode(crumb.buffer.slice(0, n))} `;
  return n == 0 ? text(all) : failed(answer.failure);
});
more.resource("more://two", (): Reply => {
  const a = fetch("https://a.example");
  const b = fetch("https://b.example");
  store.get("between");
  const second = b.text();
  const first = a.text();
  if (first !== null && second !== null) return text(first + "/" + second);
  return failed(first === null ? a.failure : b.failure);
});
more.resource("more://whole", (): Reply => {
  const answer = fetch("https://a.example");
  const whole = answer.bytes();
  return whole !== null ? bytes(whole) : failed(answer.failure);
});

more.resource("more://first", (): Reply => {
  const row = query("main", "select").int(i64.MIN_VALUE).float(0).text("").bytes(new Uint8Array(0)).first();
  if (row.failure !== null) return failed(row.failure);
  return text(`${row.column("b")} ${row.column("none")} ${row.columns[0].type} ${row.text(0)} ${row.next()}`);
});
more.template("more://value/{as}", (r: Request): Reply => {
  const row = query("main", "select").first();
  if (row.failure !== null) return failed(row.failure);
  const all: string[] = [];
  for (let i = 0; i < row.columns.length; i++) all.push(valueOf(row, i, r.var("as")));
  return text(all.join(" "));
});
more.resource("more://outside", (): Reply => {
  const rows = query("main", "select").rows();
  return text(rows.text(0) + rows.columns.length.toString());
});
more.resource("more://nowhere", (): Reply => text(query("main", "select").first().text(7)));

more.template("more://count/{by}", (r: Request): Reply => described(store.update("count", new Add(r.int("by")))));
more.resource("more://passing", (): Reply => {
  return described(store.update("count", new Add(1), new PutOptions().ttl(9).ifVersion(77)));
});
more.template("more://forget/{version}", (r: Request): Reply => {
  return described(store.deleteVersion("a", r.int<u64>("version")));
});
more.template("more://ttl/{ms}", (r: Request): Reply => {
  return described(store.putText("a", "", new PutOptions().ttl(r.int<i64>("ms"))));
});
more.resource("more://zero", (): Reply => described(store.putText("a", "", new PutOptions().ifVersion(0))));
more.template("more://large/{n}", (r: Request): Reply => described(store.put("a", new Uint8Array(r.int("n")))));
more.template("more://after/{key}/{limit}", (r: Request): Reply => {
  const found = store.keysAfter("k", r.var("key"), r.int("limit"));
  if (found === null) return store.failure;
  return text(found.map<string>((entry) => `${entry.key}-${entry.size}-${entry.expires}`).join(" "));
});

/** Add adds to a number. It refuses to make one below zero. */
class Add extends Change {
  constructor(private by: i32) { super(); }

  make(old: Uint8Array | null): Uint8Array | null {
    const sum = this.by + (old !== null ? I32.parseInt(String.UTF8.decode(old.buffer)) : 0);
    if (sum >= 0) return Uint8Array.wrap(String.UTF8.encode(sum.toString()));
    this.failure = invalid("below zero");
    return null;
  }
}

function valueOf(row: Rows, column: i32, type: string): string {
  if (type == "text") return row.text(column);
  if (type == "bytes") return row.bytes(column).join(",");
  if (type == "bool") return row.bool(column).toString();
  if (type == "float") return row.float(column).toString();
  if (type == "i64") return row.int(column).toString();
  if (type == "i32") return row.int<i32>(column).toString();
  return row.int<u8>(column).toString();
}

function described(entry: KVEntry | null): Reply {
  return entry !== null ? text(`${entry.key} ${entry.version} ${entry.conflict}`) : store.failure;
}

function failed(failure: Failure | null): Reply { return failure !== null ? failure : internal("no failure"); }
