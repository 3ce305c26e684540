// A provider that uses the host's powers in ways package abitest does not ask for, some of them wrong.
#define WASMRES_IMPLEMENTATION
#include "wasmres.h"

static bool is(wr_request *r, const char *mode) { return wr_equal(wr_var(r, "mode"), wr_cstr(mode)); }

static wr_code read_double(wr_request *r) {
  int64_t bits;
  double x;
  if (!wr_parse_int(wr_var(r, "mode"), &bits)) return wr_invalid(r, "no bits");
  __builtin_memcpy(&x, &bits, sizeof x);
  return wr_text(r, wr_format_double(r, x));
}

static wr_code read_fields(wr_request *r, const wr_http_response *page) {
  static const char *const names[] = {"content-TYPE", "x", "y", ""};
  for (size_t i = 0; i < 4; i++) wr_print(r, "[%.*s]", WR_ARG(wr_http_header(page, names[i])));
  return 0;
}

static wr_code read_http(wr_request *r) {
  wr_http_response page;
  wr_str nothing;
  char part[3];
  size_t got;
  wr_code code = wr_http_get(r, WR_S("https://example.org/"), &page);
  if (code || is(r, "check")) return code ? code : wr_http_check(r, &page);
  if (is(r, "fields")) return read_fields(r, &page);
  do {
    code = wr_http_read(&page, part, sizeof part, &got);
    if (code) return code;
    if (is(r, "rest")) return wr_http_send(r, NULL, &page);
    if (is(r, "lost")) wr_config(r, "key", &nothing);
    wr_print(r, "%.*s|", (int)got, part);
  } while (got > 0);
  wr_config(r, "key", &nothing);
  return wr_http_read(&page, part, sizeof part, &got); // there is nothing that could be lost
}

static char room[64];

static wr_code read_typed(wr_request *r, wr_rows *rows) {
  while (wr_rows_next(rows)) {
    bool none = wr_rows_null(rows, 4);
    long long id = wr_rows_int(rows, 0), same = wr_rows_int(rows, 0);
    wr_str name = wr_rows_text(rows, 1), size = wr_format_double(r, wr_rows_float(rows, 2));
    bool good = wr_rows_bool(rows, 3);
    if (!rows->code)
      wr_print(r, "%lld %lld %.*s %.*s %d %d;", id, same, WR_ARG(name), WR_ARG(size), (int)good, (int)none);
  }
  return rows->code;
}

static wr_code read_sql(wr_request *r) {
  wr_str nothing;
  wr_sql_statement s = {.connection = WR_S("main"), .query = WR_S("select"), .max_rows = 7};
  wr_rows rows = wr_sql_query(r, &s, room, sizeof room);
  if (is(r, "typed")) return read_typed(r, &rows);
  if (is(r, "after")) while (wr_rows_next(&rows)) continue;
  if (is(r, "after") || is(r, "beyond")) wr_rows_value(&rows, rows.columns);
  if (is(r, "columns"))
    for (size_t i = 0; i <= rows.columns; i++) {
      wr_sql_column c = wr_rows_column(&rows, i);
      wr_print(r, "%.*s %.*s;", WR_ARG(c.name), WR_ARG(c.type));
    }
  while (wr_rows_next(&rows)) {
    if (is(r, "int")) wr_rows_int(&rows, 0);
    if (is(r, "float")) wr_rows_float(&rows, 0);
    if (is(r, "bool")) wr_rows_bool(&rows, 0);
    if (is(r, "lost")) wr_config(r, "key", &nothing);
    wr_str first = wr_rows_text(&rows, 0);
    wr_print(r, "%.*s;", WR_ARG(first));
  }
  return rows.code;
}

static wr_code read_kv(wr_request *r) {
  static const char large[WASMRES_SCRATCH_SIZE];
  wr_kv_options o = {.ttl_ms = 5, .if_version = UINT64_MAX};
  wr_kv_entry entry;
  wr_str value, key = WR_S("k");
  wr_code code = 0;
  if (is(r, "get")) code = wr_kv_get(r, key, &value, &entry);
  if (is(r, "put")) code = wr_kv_put(r, key, WR_S("v"), &o, &entry);
  if (is(r, "delete")) code = wr_kv_delete_version(key, 7);
  if (is(r, "delete none")) code = wr_kv_delete_version(key, 0);
  if (is(r, "large")) code = wr_kv_put(r, key, (wr_str){large, sizeof large}, NULL, NULL);
  if (code) return code;
  if (is(r, "delete")) return wr_print(r, "deleted");
  return wr_print(r, "%.*s %llu %llu %lld", WR_ARG(entry.key), (unsigned long long)entry.size,
                  (unsigned long long)entry.version, (long long)entry.expires_ms);
}

static wr_code read_keys(wr_request *r) {
  wr_kv_entry entry;
  wr_keys keys = wr_kv_keys(WR_S("a/"), room, sizeof room);
  keys.last = wr_var(r, "mode");
  while (wr_keys_next(&keys, &entry)) wr_print(r, "%.*s;", WR_ARG(entry.key));
  return keys.code;
}

static wr_code read_folder(wr_request *r) {
  wr_file file;
  wr_folder folder = wr_folder_open(WR_S("/data"), room, sizeof room);
  while (wr_folder_next(&folder, &file)) wr_print(r, "%.*s;", WR_ARG(file.name));
  return folder.code;
}

static wr_code read_bytes(wr_request *r, wr_str path) {
  size_t got;
  wr_code code = wr_file_read(path, 0, room, sizeof room, &got);
  if (code) return got == 0 ? code : 0; // which it must be
  return wr_print(r, "%.*s", (int)got, room);
}

static wr_code read_file(wr_request *r) {
  static const char large[WASMRES_SCRATCH_SIZE];
  wr_file file;
  wr_str path = WR_S("/data/a/b");
  wr_code code = 0;
  if (is(r, "folder")) return read_folder(r);
  if (is(r, "read")) return read_bytes(r, path);
  if (is(r, "stat")) code = wr_file_stat(path, &file);
  if (is(r, "write")) code = wr_file_write(r, path, WR_S("text"), &file);
  if (is(r, "append")) code = wr_file_append(r, path, WR_S("text"), &file);
  if (is(r, "empty")) code = wr_file_write(r, path, WR_S(""), &file);
  if (is(r, "large")) code = wr_file_write(r, path, (wr_str){large, sizeof large}, NULL);
  if (is(r, "remove")) code = wr_file_remove(path);
  if (code) return code;
  if (is(r, "remove")) return wr_print(r, "removed");
  return wr_print(r, "[%.*s] %llu %lld %d", WR_ARG(file.name), (unsigned long long)file.size,
                  (long long)file.modified_ms, file.dir);
}

static const wr_route routes[] = {
  {.uri_template = "double://{mode}", .read = read_double},
  {.uri_template = "http://{mode}", .read = read_http},
  {.uri_template = "sql://{mode}", .read = read_sql},
  {.uri_template = "kv://{mode}", .read = read_kv},
  {.uri_template = "keys://{mode}", .read = read_keys},
  {.uri_template = "file://{mode}", .read = read_file},
};

WASMRES_PROVIDER(.name = "powers", .version = "1.0.0", .routes = WR_ARRAY(routes))
