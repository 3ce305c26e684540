// The provider of package abitest, made with the C SDK: one source, which is built freestanding, with wasi-libc, as C++
// and, for the tests of the decoder, natively.
#define WASMRES_IMPLEMENTATION
#define WASMRES_SCRATCH_SIZE (2 << 20) // for a value of 1 MiB
#include "wasmres.h"

#include "kit_powers.h"

static const char text[] = "The quick brown fox.\nZw\xc3\xb6lf Boxk\xc3\xa4mpfer. \xe7\x8b\x90 \xf0\x9f\xa6\x8a\n";

static wr_code read_text(wr_request *r) {
  wr_content c = {.etag = WR_S("\"v1\"")};
  if (wr_unmodified(r, c.etag)) return 0;
  return wr_put(r, &c, text, sizeof text - 1);
}

static wr_code text_version(wr_request *r, wr_str *etag) {
  (void)r;
  *etag = WR_S("\"v1\"");
  return 0;
}

static wr_code read_blob(wr_request *r) {
  uint8_t bytes[256];
  for (int i = 0; i < 256; i++) bytes[i] = (uint8_t)i;
  return wr_bytes(r, bytes, sizeof bytes);
}

static wr_code read_empty(wr_request *r) { return wr_text(r, WR_S("")); }

static wr_code read_several(wr_request *r) {
  wr_content one = {.uri = WR_S("kit://several/1")};
  wr_content two = {.kind = WR_KIND_BLOB, .uri = WR_S("kit://several/2")};
  wr_code code = wr_put(r, &one, "one", 3);
  return code ? code : wr_put(r, &two, "\x02", 1);
}

static wr_code read_principal(wr_request *r) {
  const wr_principal *who = r->principal;
  if (!who) return wr_text(r, WR_S("nobody"));
  return wr_print(r, "%.*s/%.*s", WR_ARG(who->subject), WR_ARG(who->tenant));
}

static wr_code read_any(wr_request *r) { return wr_not_found(r, "nothing here"); }

static wr_code read_echo(wr_request *r) { return wr_text(r, wr_var(r, "value")); }

static wr_code read_join(wr_request *r) {
  const char *between = "";
  wr_str part;
  wr_code code = wr_begin(r, NULL);
  for (wr_texts parts = wr_vars(r, "part"); !code && wr_next(&parts, &part); between = "|")
    code = wr_print(r, "%s%.*s", between, WR_ARG(part));
  return code;
}

static wr_code read_fail(wr_request *r) {
  int64_t n;
  wr_code code = wr_var_int(r, "code", 1, 9, &n);
  if (code) return code;
  wr_error e = {.code = (wr_code)n, .message = WR_S("failed as asked")};
  if (n == WR_CODE_UNAVAILABLE) e.retry_after_ms = 1500;
  return wr_fail(r, &e);
}

// Bytes that count up, a multiple of 256 of them.
static uint8_t counting[48 << 10];

static wr_code read_stream(wr_request *r) {
  int64_t n;
  wr_code code = wr_var_int(r, "n", 0, INT64_MAX, &n);
  if (code) return code;
  wr_content c = {.kind = WR_KIND_BLOB, .range = wr_range_of(r, (uint64_t)n)};
  for (size_t i = 0; i < sizeof counting; i++) counting[i] = (uint8_t)(c.range.offset + i);
  code = wr_begin(r, &c);
  for (uint64_t left = c.range.length; left > 0 && !code;) {
    size_t len = left < sizeof counting ? (size_t)left : sizeof counting;
    code = wr_write(r, counting, len);
    left -= len;
  }
  return code;
}

static wr_code read_many(wr_request *r) {
  int64_t i;
  if (wr_var_int(r, "i", 1, 25, &i)) return wr_not_found(r, "nothing here");
  return wr_print(r, "%lld", (long long)i);
}

static wr_code read_config(wr_request *r) {
  wr_str key = wr_var(r, "key"), value;
  if (!wr_config(r, wr_format(r, "%.*s", WR_ARG(key)).at, &value)) return wr_not_found(r, "nothing here");
  return wr_text(r, value);
}

static void many(wr_request *r, uint64_t i, wr_entry *e) { e->uri = wr_format(r, "kit://many/%d", (int)i + 1); }

static wr_code list(wr_request *r) { return wr_each(r, 25, many); }

static void child(wr_request *r, uint64_t i, wr_entry *e) {
  many(r, i, e);
  if (i == 25) *e = (wr_entry){.uri = WR_S("kit://many/none"), .mime = WR_S(WR_DIRECTORY_TYPE)};
}

static wr_code list_directory(wr_request *r) {
  if (wr_var(r, "name").len > 0) return list_folder(r);
  if (wr_equal(r->uri, WR_S("kit://many"))) return wr_each(r, 26, child);
  if (wr_equal(r->uri, WR_S("kit://many/none"))) return WR_CODE_OK;
  return wr_not_found(r, "nothing here");
}

static const char *const letters[] = {"alpha", "beta", "bravo"};
static const wr_completer echo_completers[] = {{.variable = "value", .words = WR_ARRAY(letters)}};

static const wr_route routes[] = {
  {.uri = "kit://text", .read = read_text, .poll_ms = 1000, .version = text_version},
  {.uri = "kit://blob", .read = read_blob},
  {.uri = "kit://empty", .read = read_empty},
  {.uri = "kit://several", .read = read_several},
  {.uri = "kit://principal", .read = read_principal},
  {.any = true, .read = read_any},
  {.uri_template = "kit://echo/{value}", .read = read_echo, .completers = WR_ARRAY(echo_completers)},
  {.uri_template = "kit://join{/part*}", .read = read_join},
  {.uri_template = "kit://fail/{code}", .read = read_fail},
  {.uri_template = "kit://stream/{n}", .read = read_stream, .ranges = true},
  {.uri_template = "kit://many/{i}", .read = read_many},
  {.uri_template = "kit://config/{key}", .read = read_config},
  {.uri_template = "kit://fetch/{+url}", .read = read_fetch},
  {.uri_template = "kit://post/{+url}", .read = read_post},
  {.uri_template = "kit://rows/{query}", .read = read_rows},
  {.uri_template = "kit://kv/{key}", .read = read_kv},
  {.uri_template = "kit://keep/{key}/{value}", .read = read_keep},
  {.uri_template = "kit://swap/{key}/{value}", .read = read_swap},
  {.uri_template = "kit://drop/{key}", .read = read_drop},
  {.uri_template = "kit://keys/{prefix}", .read = read_keys},
  {.uri_template = "kit://file/{name}", .read = read_file},
  {.uri_template = "kit://write/{name}/{text}", .read = read_write},
  {.uri_template = "kit://remove/{name}", .read = read_remove},
  {.uri_template = "kit://folder/{name}", .read = read_folder, .poll_ms = 1000, .version = version_of_folder},
  {.uri_template = "kit://some/{name}", .read = read_some},
  {.uri_template = "kit://env/{name}", .read = read_env},
};

static const wr_capability capabilities[] = {
  {.name = "http", .reason = "fetches pages", .optional = true},
  {.name = "sql", .reason = "queries the database main", .optional = true},
  {.name = "kv", .reason = "keeps values", .optional = true},
  {.name = "fs", .reason = "reads and writes files", .optional = true},
  {.name = "env", .reason = "tells variables", .optional = true},
};

WASMRES_PROVIDER(.name = "kit", .version = "1.0.0", .routes = WR_ARRAY(routes), .list = list,
                 .list_directory = list_directory, .capabilities = WR_ARRAY(capabilities))
