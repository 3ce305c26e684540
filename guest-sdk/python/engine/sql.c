// Queries of databases. What the host answers stays encoded until its rows are asked for, and they are made from it at once.
#include "engine.h"
#include "py/runtime.h"

enum {
  MAX_RESPONSE = 4 << 20, // bytes that a service answers
  MOST = 1 << 10,         // bytes of most statements, and of most rows
};

enum { COLUMNS = 1, ROWS = 2, STREAM = 3 }; // fields of an answer

MP_REGISTER_ROOT_POINTER(mp_obj_t wasmres_sql_fail); // function (code, connection): raises an error
MP_REGISTER_ROOT_POINTER(mp_obj_t wasmres_sql_rows); // function (connection, first answer): rows of which the host has more

// begin(fail, rows): names what raises the errors of this module, and what makes rows of which only some are in memory.
static mp_obj_t begin(mp_obj_t fail, mp_obj_t rows) {
  MP_STATE_VM(wasmres_sql_fail) = fail;
  MP_STATE_VM(wasmres_sql_rows) = rows;
  return mp_const_none;
}
static MP_DEFINE_CONST_FUN_OBJ_2(begin_obj, begin);

static void fail(uint32_t code, mp_obj_t connection) {
  mp_call_function_2(MP_STATE_VM(wasmres_sql_fail), mp_obj_new_int_from_uint(code), connection);
  mp_raise_type(&mp_type_RuntimeError); // it has raised none
}

static mp_obj_t sound(mp_obj_t value, mp_obj_t connection) {
  if (value == MP_OBJ_NULL) fail(WR_CODE_INTERNAL, connection);
  return value;
}

// ---- asking

// Returns the length of the answer.
static size_t ask_host(uint32_t service, const char *shape, size_t count, const mp_obj_t *fields, mp_obj_t connection) {
  uint8_t room[MOST];
  buffer b = {room, 0, sizeof room, true};
  message_put(&b, shape, count, fields);
  uint64_t result = host_call(service, b.at, b.len);
  if (!b.fixed) m_free(b.at);
  if (result >> 32) fail((uint32_t)(result >> 32), connection);
  if ((uint32_t)result > MAX_RESPONSE) fail(WR_CODE_INTERNAL, connection);
  return (uint32_t)result;
}

static size_t ask_rows(const mp_obj_t *fields) { return ask_host(WR_SERVICE_SQL, "ssvn", 4, fields, fields[0]); }

static bool take_answer(void *at, size_t len) { return host_take(WR_CHANNEL_RESPONSE, at, 0, len) == len; }

static mp_obj_t answer_of(size_t len, mp_obj_t connection) {
  vstr_t v;
  vstr_init_len(&v, len);
  if (!take_answer(v.buf, len)) fail(WR_CODE_INTERNAL, connection);
  return mp_obj_new_bytes_from_vstr(&v);
}

// ask(connection, statement, args, most): the encoded answer.
static mp_obj_t ask(size_t argc, const mp_obj_t *argv) { return answer_of(ask_rows(argv), argv[0]); }
static MP_DEFINE_CONST_FUN_OBJ_VAR_BETWEEN(ask_obj, 4, 4, ask);

// more(connection, stream): the encoded answer with the next rows.
static mp_obj_t more(mp_obj_t connection, mp_obj_t stream) {
  return answer_of(ask_host(WR_SERVICE_SQL_ROWS, "n", 1, &stream, connection), connection);
}
static MP_DEFINE_CONST_FUN_OBJ_2(more_obj, more);

// ---- reading, where MP_OBJ_NULL stands for what is malformed

enum { FEW_NAMES = 16 };

typedef struct names {
  mp_obj_t *at;
  size_t count;
  mp_obj_t room[FEW_NAMES]; // of most answers
} names;

static bool name_of(bytes column, mp_obj_t *name) {
  *name = MP_OBJ_NEW_QSTR(MP_QSTR_);
  for (field f; wire_take(&column, &f);) {
    if (f.number != 1) continue;
    if (f.type != WIRE_BYTES) return false;
    *name = mp_obj_new_str((const char *)f.text.at, f.text.len);
  }
  return column.len == 0;
}

static bool take_names(bytes answer, names *n) {
  bytes rest = answer;
  n->count = 0;
  for (field f; wire_take(&rest, &f);) n->count += f.number == COLUMNS && f.type == WIRE_BYTES;
  n->at = n->count <= FEW_NAMES ? n->room : m_new0(mp_obj_t, n->count);
  mp_obj_t *at = n->at;
  for (field f; wire_take(&answer, &f);) {
    if (f.number != COLUMNS) continue;
    if (f.type != WIRE_BYTES || !name_of(f.text, at++)) return false;
  }
  return answer.len == 0;
}

// A row as a dict, or as a list without names. Its values are as many as there are names.
static mp_obj_t row_of(bytes rest, const names *n, bool named) {
  mp_obj_t row = named ? mp_obj_new_dict(n->count) : mp_obj_new_list(0, NULL);
  size_t i = 0;
  for (field f; wire_take(&rest, &f);) {
    if (f.number != 1) continue;
    if (f.type != WIRE_BYTES || i == n->count) return MP_OBJ_NULL;
    mp_obj_t value = message_value(f.text);
    if (value == MP_OBJ_NULL) return MP_OBJ_NULL;
    if (named) mp_obj_dict_store(row, n->at[i], value);
    else mp_obj_list_append(row, value);
    i++;
  }
  return rest.len == 0 && i == n->count ? row : MP_OBJ_NULL;
}

// Appends at most so many rows to a list; false when the answer is malformed.
static bool take_rows(mp_obj_t rows, bytes columns, bytes answer, size_t most, bool named) {
  names n;
  if (!take_names(columns, &n)) return false;
  for (field f; wire_take(&answer, &f);) {
    if (f.number != ROWS) continue;
    mp_obj_t row = f.type == WIRE_BYTES ? row_of(f.text, &n, named) : MP_OBJ_NULL;
    if (row == MP_OBJ_NULL) return false;
    if (most-- > 0) mp_obj_list_append(rows, row);
  }
  return answer.len == 0;
}

static bytes bytes_of(mp_obj_t answer) {
  mp_buffer_info_t b;
  mp_get_buffer_raise(answer, &b, MP_BUFFER_READ);
  return (bytes){b.buf, b.len};
}

static mp_obj_t all_of(mp_obj_t connection, mp_obj_t first, mp_obj_t answer, bool named) {
  mp_obj_t rows = mp_obj_new_list(0, NULL);
  if (!take_rows(rows, bytes_of(first), bytes_of(answer), SIZE_MAX, named)) fail(WR_CODE_INTERNAL, connection);
  return rows;
}

// dicts(connection, first, answer): the rows of an answer, dicts, by the columns of the first answer.
static mp_obj_t dicts(mp_obj_t connection, mp_obj_t first, mp_obj_t answer) { return all_of(connection, first, answer, true); }
static MP_DEFINE_CONST_FUN_OBJ_3(dicts_obj, dicts);

// lists(connection, first, answer): as dicts, lists of values.
static mp_obj_t lists(mp_obj_t connection, mp_obj_t first, mp_obj_t answer) { return all_of(connection, first, answer, false); }
static MP_DEFINE_CONST_FUN_OBJ_3(lists_obj, lists);

// columns(connection, answer): the name and the type of each column, None for one that is empty; None without columns.
static mp_obj_t columns(mp_obj_t connection, mp_obj_t answer) {
  mp_obj_t *fields;
  mp_obj_get_array_fixed_n(sound(message_decode("(ss)", bytes_of(answer)), connection), 1, &fields);
  return fields[0];
}
static MP_DEFINE_CONST_FUN_OBJ_2(columns_obj, columns);

static uint64_t stream_of(bytes answer) {
  uint64_t number = 0;
  for (field f; wire_take(&answer, &f);)
    if (f.number == STREAM && f.type == WIRE_NUMBER) number = f.bits;
  return number;
}

// stream(answer): the number of the stream that has more rows, 0 without one.
static mp_obj_t stream(mp_obj_t answer) { return mp_obj_new_int_from_ull(stream_of(bytes_of(answer))); }
static MP_DEFINE_CONST_FUN_OBJ_1(stream_obj, stream);

// row(connection, statement, args): the first row, a dict; None without one.
static mp_obj_t row(mp_obj_t connection, mp_obj_t statement, mp_obj_t args) {
  mp_obj_t fields[] = {connection, statement, args, MP_OBJ_NEW_SMALL_INT(1)}, *first;
  size_t len = ask_rows(fields), count = 0;
  uint8_t room[MOST], *at = len > sizeof room ? m_new(uint8_t, len) : room;
  bytes answer = {at, len};
  mp_obj_t rows = mp_obj_new_list(0, NULL);
  if (!take_answer(at, len) || !take_rows(rows, answer, answer, 1, true)) fail(WR_CODE_INTERNAL, connection);
  if (at != room) m_del(uint8_t, at, len);
  mp_obj_list_get(rows, &count, &first);
  return count ? *first : mp_const_none;
}
static MP_DEFINE_CONST_FUN_OBJ_3(row_obj, row);

// ---- a database, an object for each call of app.sql

typedef struct database {
  mp_obj_base_t base;
  mp_obj_t name;
} database;

static mp_obj_t make_database(const mp_obj_type_t *type, size_t argc, size_t named, const mp_obj_t *argv) {
  if (argc == 0 && named == 1 && argv[0] == MP_OBJ_NEW_QSTR(MP_QSTR_name)) argv++;
  else mp_arg_check_num(argc, named, 1, 1, false);
  database *d = mp_obj_malloc(database, type);
  d->name = argv[0];
  return MP_OBJ_FROM_PTR(d);
}

static void database_attr(mp_obj_t self, qstr name, mp_obj_t *dest) {
  if (dest[0] != MP_OBJ_NULL) return; // none can be set
  if (name == MP_QSTR_name) dest[0] = ((database *)MP_OBJ_TO_PTR(self))->name;
  else dest[1] = MP_OBJ_SENTINEL; // a method
}

// The arguments of a method of a database, of which the statement may be given by its name, as fields of a request.
static void fields_of(size_t argc, const mp_obj_t *argv, mp_map_t *named, mp_obj_t *fields) {
  mp_map_elem_t *e = named->used ? mp_map_lookup(named, MP_OBJ_NEW_QSTR(MP_QSTR_statement), MP_MAP_LOOKUP) : NULL;
  if (named->used > (e != NULL) || (argc == 1) == (e == NULL))
    mp_raise_TypeError(MP_ERROR_TEXT("a query takes a statement and its values"));
  fields[0] = ((database *)MP_OBJ_TO_PTR(argv[0]))->name;
  fields[1] = e ? e->value : argv[1];
  fields[2] = argc > 2 ? mp_obj_new_tuple(argc - 2, argv + 2) : mp_const_none;
  fields[3] = mp_const_none;
}

// query(statement, *args): the rows, each a dict.
static mp_obj_t query(size_t argc, const mp_obj_t *argv, mp_map_t *named) {
  mp_obj_t fields[4];
  fields_of(argc, argv, named, fields);
  size_t len = ask_rows(fields);
  uint8_t *at = m_new(uint8_t, len + 1);
  bytes first = {at, len};
  if (!take_answer(at, len)) fail(WR_CODE_INTERNAL, fields[0]);
  if (stream_of(first)) return mp_call_function_2(MP_STATE_VM(wasmres_sql_rows), fields[0], mp_obj_new_bytes(at, len));
  mp_obj_t rows = rows_new(first);
  if (!take_rows(rows, first, first, SIZE_MAX, true)) fail(WR_CODE_INTERNAL, fields[0]);
  return rows;
}
static MP_DEFINE_CONST_FUN_OBJ_KW(query_obj, 1, query);

// query_row(statement, *args): as row.
static mp_obj_t query_row(size_t argc, const mp_obj_t *argv, mp_map_t *named) {
  mp_obj_t fields[4];
  fields_of(argc, argv, named, fields);
  return row(fields[0], fields[1], fields[2]);
}
static MP_DEFINE_CONST_FUN_OBJ_KW(query_row_obj, 1, query_row);

static const mp_rom_map_elem_t database_methods[] = {
  {MP_ROM_QSTR(MP_QSTR_query), MP_ROM_PTR(&query_obj)},
  {MP_ROM_QSTR(MP_QSTR_query_row), MP_ROM_PTR(&query_row_obj)},
};
static MP_DEFINE_CONST_DICT(database_methods_dict, database_methods);
static MP_DEFINE_CONST_OBJ_TYPE(database_type, MP_QSTR_Database, MP_TYPE_FLAG_NONE, make_new, make_database, attr, database_attr,
  locals_dict, &database_methods_dict);

static const mp_rom_map_elem_t sql_globals[] = {
  {MP_ROM_QSTR(MP_QSTR___name__), MP_ROM_QSTR(MP_QSTR__wasmres_sql)},
  {MP_ROM_QSTR(MP_QSTR_Database), MP_ROM_PTR(&database_type)},
  {MP_ROM_QSTR(MP_QSTR_ask), MP_ROM_PTR(&ask_obj)},
  {MP_ROM_QSTR(MP_QSTR_begin), MP_ROM_PTR(&begin_obj)},
  {MP_ROM_QSTR(MP_QSTR_columns), MP_ROM_PTR(&columns_obj)},
  {MP_ROM_QSTR(MP_QSTR_dicts), MP_ROM_PTR(&dicts_obj)},
  {MP_ROM_QSTR(MP_QSTR_lists), MP_ROM_PTR(&lists_obj)},
  {MP_ROM_QSTR(MP_QSTR_more), MP_ROM_PTR(&more_obj)},
  {MP_ROM_QSTR(MP_QSTR_row), MP_ROM_PTR(&row_obj)},
  {MP_ROM_QSTR(MP_QSTR_stream), MP_ROM_PTR(&stream_obj)},
};
static MP_DEFINE_CONST_DICT(sql_dict, sql_globals);
const mp_obj_module_t sql_module = {.base = {&mp_type_module}, .globals = (mp_obj_dict_t *)&sql_dict};
MP_REGISTER_MODULE(MP_QSTR__wasmres_sql, sql_module);
