// What a provider asks the host: services, the log, and numbers the host knows.
#include <string.h>

#include "engine.h"
#include "py/runtime.h"

enum {
  MAX_RESPONSE = 4 << 20, // bytes of a message that a service answers
  PART = 8 << 10,         // bytes there is room for at first
};

static mp_obj_t response_of(const char *shape, uint32_t len) {
  mp_obj_t message = MP_OBJ_NULL;
  if (len <= MAX_RESPONSE) {
    uint8_t *at = m_new(uint8_t, len + 1);
    if (host_take(WR_CHANNEL_RESPONSE, at, 0, len) == len) message = message_decode(shape, (bytes){at, len});
    m_del(uint8_t, at, len + 1);
  }
  return message == MP_OBJ_NULL ? MP_OBJ_NEW_SMALL_INT(WR_CODE_INTERNAL) : message;
}

// call(service, asked, fields, answered): asks a service with fields of the shape asked. Returns the fields it answers,
// a tuple of the shape answered, or the code when that is not 0: see message.c.
static mp_obj_t call(size_t argc, const mp_obj_t *argv) {
  static uint8_t room[1 << 10]; // for most messages
  buffer b = {room, 0, sizeof room, true};
  message_encode(&b, mp_obj_str_get_str(argv[1]), argv[2]);
  uint64_t result = host_call((uint32_t)mp_obj_get_int(argv[0]), b.at, b.len);
  if (!b.fixed) m_free(b.at);
  uint32_t code = (uint32_t)(result >> 32);
  return code ? mp_obj_new_int_from_uint(code) : response_of(mp_obj_str_get_str(argv[3]), (uint32_t)result);
}
static MP_DEFINE_CONST_FUN_OBJ_VAR_BETWEEN(call_obj, 4, 4, call);

// taken(length): at most so many of the bytes that came beside the last answer, or all for None.
static mp_obj_t taken(mp_obj_t length) {
  size_t most = MAX_RESPONSE, room = PART, len = 0;
  if (length != mp_const_none) {
    mp_int_t n = mp_obj_get_int(length);
    room = most = n < 0 ? 0 : n < MAX_RESPONSE ? (size_t)n : MAX_RESPONSE;
  }
  vstr_t v;
  vstr_init(&v, room);
  for (;; room = room < most / 4 ? room * 4 : most) {
    if (v.alloc < room + 1) vstr_hint_size(&v, room - v.len);
    len += host_take(WR_CHANNEL_BODY, v.buf + len, len, room - len);
    v.len = len;
    if (len < room || room == most) return mp_obj_new_bytes_from_vstr(&v);
  }
}
static MP_DEFINE_CONST_FUN_OBJ_1(taken_obj, taken);

// log(level, text)
static mp_obj_t write_log(mp_obj_t level, mp_obj_t text) {
  size_t len;
  const char *at = mp_obj_str_get_data(text, &len);
  host_log((uint32_t)mp_obj_get_int(level), at, len);
  return mp_const_none;
}
static MP_DEFINE_CONST_FUN_OBJ_2(log_obj, write_log);

// info(id)
static mp_obj_t info(mp_obj_t id) { return mp_obj_new_int_from_ull(host_info((uint32_t)mp_obj_get_int(id))); }
static MP_DEFINE_CONST_FUN_OBJ_1(info_obj, info);

static const mp_rom_map_elem_t service_globals[] = {
  {MP_ROM_QSTR(MP_QSTR___name__), MP_ROM_QSTR(MP_QSTR__wasmres_service)},
  {MP_ROM_QSTR(MP_QSTR_call), MP_ROM_PTR(&call_obj)},
  {MP_ROM_QSTR(MP_QSTR_taken), MP_ROM_PTR(&taken_obj)},
  {MP_ROM_QSTR(MP_QSTR_log), MP_ROM_PTR(&log_obj)},
  {MP_ROM_QSTR(MP_QSTR_info), MP_ROM_PTR(&info_obj)},
};
static MP_DEFINE_CONST_DICT(service_dict, service_globals);
const mp_obj_module_t service_module = {.base = {&mp_type_module}, .globals = (mp_obj_dict_t *)&service_dict};
MP_REGISTER_MODULE(MP_QSTR__wasmres_service, service_module);
