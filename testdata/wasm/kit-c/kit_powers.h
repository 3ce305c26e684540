// What the kit's provider does with the host's powers.

static char room[16 << 10]; // of rows and keys

static wr_code read_fetch(wr_request *r) {
  wr_http_response page;
  wr_content c = {.kind = WR_KIND_BLOB};
  wr_code code = wr_http_get(r, wr_var(r, "url"), &page);
  if (!code) code = wr_http_check(r, &page);
  return code ? code : wr_http_send(r, &c, &page);
}

static wr_code read_post(wr_request *r) {
  const wr_http_field header[] = {{WR_S("X-Kit"), WR_S("sent")}};
  wr_http_request q = {.method = WR_S("POST"), .url = wr_var(r, "url"), .header = WR_ARRAY(header),
                       .body = WR_S("from the kit"), .max_bytes = 1000, .timeout_ms = 1500};
  wr_http_response page;
  char part[100];
  size_t got = sizeof part;
  wr_code code = wr_http(r, &q, &page);
  if (code) return code;
  wr_print(r, "%u\n%.*s\n", (unsigned)page.status, WR_ARG(page.url));
  wr_print(r, "%.*s\n", WR_ARG(wr_http_header(&page, "x-kit")));
  while (!code && got == sizeof part) {
    code = wr_http_read(&page, part, sizeof part, &got);
    if (!code) code = wr_write(r, part, got);
  }
  return code;
}

static void print_value(wr_request *r, wr_sql_value v) {
  wr_str text = v.kind == WR_SQL_NULL ? WR_S("null") : wr_sql_format(r, v);
  if (v.kind != WR_SQL_BYTES) wr_write(r, text.at, text.len);
  else for (size_t i = 0; i < text.len; i++) wr_print(r, "%02x", (unsigned)(uint8_t)text.at[i]);
}

static wr_code read_rows(wr_request *r) {
  const wr_sql_value args[] = {wr_sql_null(), wr_sql_bool(true), wr_sql_int(-7), wr_sql_float(1.5),
                               wr_sql_text(WR_S("t\xc3\xa9")), wr_sql_bytes("\0\xff", 2)};
  wr_sql_statement s = {.connection = WR_S("main"), .query = wr_var(r, "query"), .args = WR_ARRAY(args)};
  wr_rows rows = wr_sql_query(r, &s, room, sizeof room);
  if (rows.code) return rows.code;
  wr_begin(r, NULL);
  for (size_t i = 0; i < rows.columns; i++)
    wr_print(r, "%s%.*s", i > 0 ? "|" : "", WR_ARG(wr_rows_column(&rows, i).name));
  for (size_t mark = wr_mark(r); wr_rows_next(&rows); wr_release(r, mark))
    for (size_t i = 0; i < rows.columns; i++) {
      wr_print(r, "%s", i > 0 ? "|" : "\n");
      print_value(r, wr_rows_value(&rows, i));
    }
  return rows.code;
}

static wr_code read_kv(wr_request *r) {
  wr_str value;
  wr_code code = wr_kv_get(r, wr_var(r, "key"), &value, NULL);
  return code ? code : wr_bytes(r, value.at, value.len);
}

static wr_code put(wr_request *r, const wr_kv_options *o) {
  wr_kv_entry entry;
  wr_code code = wr_kv_put(r, wr_var(r, "key"), wr_var(r, "value"), o, &entry);
  if (code && code != WR_CONFLICT) return code;
  return wr_print(r, "%s %llu", code ? "is" : "put", (unsigned long long)entry.version);
}

static wr_code read_keep(wr_request *r) {
  wr_kv_options o = {.ttl_ms = 1500, .if_absent = true};
  return put(r, &o);
}

static wr_code read_swap(wr_request *r) {
  wr_str value;
  wr_kv_entry entry;
  wr_code code = wr_kv_get(r, wr_var(r, "key"), &value, &entry);
  wr_kv_options o = {.if_version = entry.version};
  return code ? code : put(r, &o);
}

static wr_code read_drop(wr_request *r) {
  wr_code code = wr_kv_delete(wr_var(r, "key"));
  return code ? code : wr_text(r, WR_S("gone"));
}

static wr_code read_keys(wr_request *r) {
  wr_kv_entry entry;
  wr_keys keys = wr_kv_keys(wr_var(r, "prefix"), room, sizeof room);
  wr_begin(r, NULL);
  while (wr_keys_next(&keys, &entry)) wr_print(r, "%.*s\n", WR_ARG(entry.key));
  return keys.code;
}

static wr_str path_of(wr_request *r) { return wr_format(r, "/kit/%.*s", WR_ARG(wr_var(r, "name"))); }

static wr_code read_file(wr_request *r) {
  wr_content c = {.kind = WR_KIND_BLOB};
  return wr_file_send(r, &c, path_of(r));
}

static wr_code read_write(wr_request *r) {
  wr_file file;
  wr_code code = wr_file_write(r, path_of(r), wr_var(r, "text"), NULL);
  if (!code) code = wr_file_append(r, path_of(r), WR_S("\n"), &file);
  return code ? code : wr_print(r, "%llu", (unsigned long long)file.size);
}

static wr_code read_remove(wr_request *r) {
  wr_code code = wr_file_remove(path_of(r));
  return code ? code : wr_text(r, WR_S("gone"));
}

static wr_code read_folder(wr_request *r) {
  return wr_folder_send(r, WR_S("/kit"), wr_var(r, "name"), WR_S("kit://in/"), NULL);
}

static wr_code list_folder(wr_request *r) {
  char room[8192];
  wr_file file;
  wr_folder folder = wr_folder_open(path_of(r), room, sizeof room);
  for (size_t mark = wr_mark(r); wr_folder_next(&folder, &file); wr_release(r, mark)) {
    wr_entry e = {.uri = wr_format(r, "%.*s/%.*s", WR_ARG(r->uri), WR_ARG(file.name))};
    if (file.dir) e.mime = WR_S(WR_DIRECTORY_TYPE);
    if (!wr_add(r, &e)) break;
  }
  return folder.code;
}

static wr_code version_of_folder(wr_request *r, wr_str *etag) {
  return wr_folder_version(r, WR_S("/kit"), wr_var(r, "name"), NULL, etag);
}

static wr_str type_of(wr_str name, wr_str head, bool text) {
  wr_str tail = {name.at + name.len, 0};
  for (; tail.len < 4 && tail.len < name.len; tail.len++) tail.at--;
  if (text && wr_equal(tail, WR_S(".kit"))) return WR_S("text/x-kit");
  return wr_starts_with(head, WR_S("KIT")) ? WR_S("image/x-kit") : WR_S("");
}

static wr_code read_some(wr_request *r) {
  wr_folder_options o = {.max_files = 3, .max_bytes = 1000, .hidden = true, .mime = type_of};
  return wr_folder_send(r, WR_S("/kit"), wr_var(r, "name"), WR_S("kit://in/"), &o);
}

static wr_code read_env(wr_request *r) {
  wr_str value;
  wr_str name = wr_format(r, "%.*s", WR_ARG(wr_var(r, "name"))); // with a NUL at its end
  return wr_env(r, name.at, &value) ? wr_text(r, value) : wr_not_found(r, "nothing here");
}
