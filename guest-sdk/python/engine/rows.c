// All rows of a query: a list of dicts, which has besides what the SDK's class Rows has. C reads it as the list that it is.
#include "engine.h"
#include "py/objlist.h"
#include "py/runtime.h"

typedef struct rows {
  mp_obj_list_t list;
  bytes answer;
} rows;

mp_obj_t rows_new(bytes answer) {
  rows *r = m_new_obj(rows);
  mp_obj_list_init(&r->list, 0);
  r->list.base.type = &rows_type;
  r->answer = answer;
  return MP_OBJ_FROM_PTR(r);
}

// The same rows as an object of the class Rows.
static mp_obj_t further(mp_obj_t self) {
  bytes answer = ((rows *)MP_OBJ_TO_PTR(self))->answer;
  return mp_call_function_2(MP_STATE_VM(wasmres_sql_rows), MP_OBJ_NEW_QSTR(MP_QSTR_), mp_obj_new_bytes(answer.at, answer.len));
}

static mp_obj_t dicts(mp_obj_t self) { return self; }
static MP_DEFINE_CONST_FUN_OBJ_1(dicts_obj, dicts);

void functions_find_method(mp_obj_t obj, const mp_obj_type_t *type, qstr name, mp_obj_t *dest);

static void load(mp_obj_t self, qstr name, mp_obj_t *dest) {
  if (dest[0] != MP_OBJ_NULL) return; // no attribute can be set
  if (name == MP_QSTR_columns || name == MP_QSTR_values) {
    mp_load_method_maybe(further(self), name, dest);
    return;
  }
  if (name == MP_QSTR_dicts) {
    dest[0] = MP_OBJ_FROM_PTR(&dicts_obj), dest[1] = self;
    return;
  }
  mp_map_t *methods = &MP_OBJ_TYPE_GET_SLOT(&mp_type_list, locals_dict)->map;
  mp_map_elem_t *e = mp_map_lookup(methods, MP_OBJ_NEW_QSTR(name), MP_MAP_LOOKUP);
  if (e) mp_convert_member_lookup(self, &mp_type_list, e->value, dest);
  else if (MP_STATE_VM(wasmres_methods) != MP_OBJ_NULL) functions_find_method(self, &mp_type_list, name, dest);
}

static void print(const mp_print_t *to, mp_obj_t self, mp_print_kind_t kind) {
  MP_OBJ_TYPE_GET_SLOT(&mp_type_list, print)(to, self, kind);
}

static mp_obj_t unary(mp_unary_op_t op, mp_obj_t self) { return MP_OBJ_TYPE_GET_SLOT(&mp_type_list, unary_op)(op, self); }

// What the operators of a list take no subclasses of.
static mp_obj_t list_of(mp_obj_t value, mp_obj_list_t *room) {
  if (!mp_obj_is_type(value, &rows_type)) return value;
  *room = ((rows *)MP_OBJ_TO_PTR(value))->list;
  room->base.type = &mp_type_list;
  return MP_OBJ_FROM_PTR(room);
}

static mp_obj_t binary(mp_binary_op_t op, mp_obj_t self, mp_obj_t other) {
  mp_obj_list_t room;
  mp_obj_t (*apply)(mp_binary_op_t, mp_obj_t, mp_obj_t) = MP_OBJ_TYPE_GET_SLOT(&mp_type_list, binary_op);
  if (op == MP_BINARY_OP_REVERSE_ADD && mp_obj_is_type(other, &mp_type_list)) return apply(MP_BINARY_OP_ADD, other, list_of(self, &room));
  if (op == MP_BINARY_OP_REVERSE_MULTIPLY) op = MP_BINARY_OP_MULTIPLY;
  other = list_of(other, &room);
  if (op == MP_BINARY_OP_EQUAL && !mp_obj_is_type(other, &mp_type_list)) return MP_OBJ_NULL; // other may know
  return apply(op, self, other);
}

static mp_obj_t subscript(mp_obj_t self, mp_obj_t index, mp_obj_t value) {
  return MP_OBJ_TYPE_GET_SLOT(&mp_type_list, subscr)(self, index, value);
}

static mp_obj_t iterator(mp_obj_t self, mp_obj_iter_buf_t *room) {
  return ((mp_getiter_fun_t)MP_OBJ_TYPE_GET_SLOT(&mp_type_list, iter))(self, room);
}

MP_DEFINE_CONST_OBJ_TYPE(rows_type, MP_QSTR_list, MP_TYPE_FLAG_ITER_IS_GETITER | MP_TYPE_FLAG_EQ_CHECKS_OTHER_TYPE, print, print,
  unary_op, unary, binary_op, binary, attr, load, subscr, subscript, iter, iterator, parent, &mp_type_list);
