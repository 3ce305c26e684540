// A provider of what package abitest does not ask for: files, folders, scopes, progress, and all that a manifest has.
#define WASMRES_IMPLEMENTATION
#include "wasmres.h"

static int warmed;
static uint64_t drawn;

WASMRES_WARM { warmed++; }

WASMRES_SEED(seed) { drawn = seed; }

static wr_code read_start(wr_request *r) {
  return wr_print(r, "warmed %d, drawn %llu", warmed, (unsigned long long)drawn);
}

static wr_code read_file(wr_request *r) {
  wr_str path = wr_var(r, "path");
  wr_content c = {.mime = WR_S("text/markdown")};
  return wr_file_send(r, &c, wr_format(r, "/data/%.*s", WR_ARG(path)));
}

static wr_code read_stat(wr_request *r) {
  wr_file file;
  wr_code code = wr_file_stat(wr_var(r, "path"), &file);
  if (code) return code;
  const char *kind = file.dir ? "dir" : "file";
  return wr_print(r, "%llu %lld %s", (unsigned long long)file.size, (long long)file.modified_ms, kind);
}

static char room[64]; // for one entry or two

static wr_code read_folder(wr_request *r) {
  wr_file file;
  wr_folder folder = wr_folder_open(WR_S("/data"), room, sizeof room);
  while (wr_folder_next(&folder, &file)) wr_print(r, "%.*s%s\n", WR_ARG(file.name), file.dir ? "/" : "");
  return folder.code;
}

static wr_code read_scopes(wr_request *r) {
  wr_str scope;
  wr_code code = wr_begin(r, NULL);
  for (wr_texts scopes = wr_scopes(r); wr_next(&scopes, &scope);) code = wr_print(r, "[%.*s]", WR_ARG(scope));
  return code;
}

// Formats, of which the answer is known to the test.
static wr_code read_formats(wr_request *r) {
  wr_print(r, "%d %u %x %X %c %s %%|", -42, 42u, 48879u, 48879u, 'c', "text");
  wr_print(r, "%5d|%-5d|%*d|%05d|%5s|%-5s|%.2s|", 42, 42, -5, 42, -42, "ab", "ab", "abc");
  wr_print(r, "%lld %llu %zu %hhd|", -9223372036854775807LL - 1, ~0ULL, sizeof(char), (signed char)44);
  char small[8];
  wr_str cut = wr_format_into(small, sizeof small, "abcde\xc3\xbc\xc3\xbc");
  return wr_print(r, "%.*s", WR_ARG(cut));
}

// Reports that come while a content is being written, before it has outgrown its head and after.
static wr_code read_slow(wr_request *r) {
  wr_print(r, "one ");
  wr_progress(r, 1, 2, WR_S("halfway"));
  wr_print(r, "two");
  return wr_progress(r, 2, 2, WR_S(""));
}

// Fails in the way that is named.
static wr_code read_failure(wr_request *r) {
  wr_str kind = wr_var(r, "kind");
  wr_error e = {.code = WR_CODE_INVALID_PARAMS, .message = kind, .data_json = WR_S("{\"n\":1}")};
  if (wr_equal(kind, WR_S("denied"))) return wr_denied(r, "not for %s", "you");
  if (wr_equal(kind, WR_S("busy"))) return wr_unavailable(r, 250, "busy %d", 7);
  if (wr_equal(kind, WR_S("replaced"))) return wr_denied(r, "no") ? wr_not_found(r, "gone") : 0;
  if (wr_equal(kind, WR_S("after bytes"))) return wr_print(r, "bytes") ? 0 : wr_not_found(r, "gone");
  if (wr_equal(kind, WR_S("bare"))) return WR_CODE_DENIED;
  if (wr_equal(kind, WR_S("unknown"))) return 77;
  if (wr_equal(kind, WR_S("nothing"))) return 0;
  return wr_fail(r, &e);
}

static wr_code read_notices(wr_request *r) {
  wr_code code = wr_notify_updated(WR_S("files://readme.md"));
  if (!code) code = wr_notify_list_changed();
  return code ? code : wr_text(r, WR_S("told"));
}

static wr_code read_endless(wr_request *r) {
  while (!wr_print(r, "%d bottles of beer on the wall, ", 99)) continue;
  return wr_check(r);
}

static wr_code read_greedy(wr_request *r) {
  while (wr_alloc(r, 1000)) continue;
  return wr_text(r, WR_S("done"));
}

// Contents of which the host has enough at some time.
static wr_code read_several(wr_request *r) {
  static const char bytes[4000];
  for (int i = 0; i < 20; i++) wr_bytes(r, bytes, sizeof bytes);
  return 0;
}

static wr_code suggest(wr_request *r, wr_str typed) {
  for (int i = 0; i < 150; i++) wr_suggest(r, wr_format(r, "%.*s%d", WR_ARG(typed), i));
  return 0;
}

static wr_code list(wr_request *r) {
  wr_cache(r, 60000, WR_CACHE_PUBLIC);
  wr_entry e = {.uri = WR_S("files://readme.md"), .title = WR_S("Read me"), .size = 12, .priority = 0.5,
                .modified_ms = 1795225320000, .audience = WR_AUDIENCE_USER, .meta_json = WR_S("{\"a\":1}")};
  wr_add(r, &e);
  return 0;
}

static const char *const sizes[] = {"48x48", "any"};
static const wr_icon icons[] = {
  {.src = "https://example.com/a.png", .mime = "image/png", .sizes = WR_ARRAY(sizes), .theme = "dark"},
};
static const wr_completer completers[] = {{.variable = "path", .complete = suggest}};

static const wr_route routes[] = {
  {.uri_template = "files://{path}", .read = read_file, .name = "file", .title = "File", .description = "Any file.",
   .mime = "text/plain", .priority = WR_PRIORITY_LEAST, .audience = WR_AUDIENCE_ASSISTANT, .icons = WR_ARRAY(icons),
   .meta_json = "{}", .ranges = true, .ttl_ms = 5000, .cache_scope = WR_CACHE_PUBLIC,
   .completers = WR_ARRAY(completers)},
  {.uri_template = "stat://x{?path}", .read = read_stat},
  {.uri_template = "fail://{kind}", .read = read_failure},
  {.uri = "files://folder", .read = read_folder, .size = 7, .modified_ms = 951782400000},
  {.uri = "files://scopes", .read = read_scopes},
  {.uri = "files://formats", .read = read_formats},
  {.uri = "files://notices", .read = read_notices},
  {.uri = "files://start", .read = read_start},
  {.uri = "files://slow", .read = read_slow},
  {.uri = "files://endless", .read = read_endless},
  {.uri = "files://greedy", .read = read_greedy},
  {.uri = "files://several", .read = read_several},
};

static const wr_capability capabilities[] = {
  {.name = "fs", .reason = "serves files", .params_json = "{}", .optional = true},
};
static const char *const prefixes[] = {"files://", "stat://", "fail://"};

WASMRES_PROVIDER(.name = "files", .version = "1.0.0", .title = "Files", .description = "Files, and more.",
                 .routes = WR_ARRAY(routes), .list = list, .uri_prefixes = WR_ARRAY(prefixes),
                 .capabilities = WR_ARRAY(capabilities), .config_schema_json = "{\"type\":\"object\"}",
                 .limits = {.memory = 1 << 20, .deadline_ms = 1000, .max_body = 1 << 20, .max_instances = 4,
                            .lifecycle = WR_LIFECYCLE_SESSION})
