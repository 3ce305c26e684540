// The frame: fields of a Reply that are collected, and the bytes of contents, which follow their fields.
#include <string.h>

#include "engine.h"
#include "py/runtime.h"

enum {
  CHUNK = 48 << 10,        // bytes of a content that are collected before they leave
  PIECE = 3 * (256 << 10), // bytes that leave at once at most
};

MP_REGISTER_ROOT_POINTER(void *wasmres_frame);

static uint8_t chunk[CHUNK];

void frame_reset(void) {
  hot.frame = (buffer){hot.answer, 0, sizeof hot.answer, true};
  hot.depth = 0, hot.chunk = 0;
  MP_STATE_VM(wasmres_frame) = NULL;
}

void frame_begin(void) {
  hot.ended = WR_SIGNAL_MORE;
  frame_reset();
}

static void reserve(size_t n) {
  if (hot.frame.len + n <= hot.frame.room) return;
  buffer_reserve(&hot.frame, n);
  MP_STATE_VM(wasmres_frame) = hot.frame.at;
}

static uint32_t number_of(mp_obj_t value) { return (uint32_t)mp_obj_get_int(value); }

// begin(field): what follows, up to end, is a message.
static mp_obj_t begin(mp_obj_t number) {
  if (hot.depth == MAX_DEPTH) mp_raise_ValueError(MP_ERROR_TEXT("messages are nested too deep"));
  reserve(WIRE_HEAD);
  hot.begun[hot.depth++] = wire_begin(&hot.frame, number_of(number));
  return mp_const_none;
}
static MP_DEFINE_CONST_FUN_OBJ_1(begin_obj, begin);

// end(): returns how many bytes the frame has.
static mp_obj_t end(void) {
  if (hot.depth == 0) mp_raise_ValueError(MP_ERROR_TEXT("no message has begun"));
  wire_end(&hot.frame, hot.begun[--hot.depth]);
  return MP_OBJ_NEW_SMALL_INT(hot.frame.len);
}
static MP_DEFINE_CONST_FUN_OBJ_0(end_obj, end);

static void put_bytes(uint32_t number, const void *at, size_t len) {
  reserve(WIRE_HEAD + len);
  wire_put_bytes(&hot.frame, number, at, len);
}

// text(field, value): of a str; leaves out what is empty or None.
static mp_obj_t text(mp_obj_t number, mp_obj_t value) {
  if (value == mp_const_none) return mp_const_none;
  size_t len;
  const char *at = mp_obj_str_get_data(value, &len);
  if (len > 0) put_bytes(number_of(number), at, len);
  return mp_const_none;
}
static MP_DEFINE_CONST_FUN_OBJ_2(text_obj, text);

// element(field, value): of a str or what has bytes, also when it is empty.
static mp_obj_t element(mp_obj_t number, mp_obj_t value) {
  mp_buffer_info_t b;
  mp_get_buffer_raise(value, &b, MP_BUFFER_READ);
  put_bytes(number_of(number), b.buf, b.len);
  return mp_const_none;
}
static MP_DEFINE_CONST_FUN_OBJ_2(element_obj, element);

// number(field, n): leaves out what is not above zero.
static mp_obj_t number(mp_obj_t number, mp_obj_t value) {
  if (value == mp_const_none) return mp_const_none;
  mp_float_t v = mp_obj_get_float(value);
  if (!(v >= 1)) return mp_const_none;
  reserve(WIRE_HEAD);
  wire_put_number(&hot.frame, number_of(number), v < 0x1p63 ? (uint64_t)v : INT64_MAX);
  return mp_const_none;
}
static MP_DEFINE_CONST_FUN_OBJ_2(number_obj, number);

// double(field, n): also when it is zero.
static mp_obj_t put_double(mp_obj_t number, mp_obj_t value) {
  reserve(WIRE_HEAD);
  wire_put_fixed64(&hot.frame, number_of(number), mp_obj_get_float(value));
  return mp_const_none;
}
static MP_DEFINE_CONST_FUN_OBJ_2(double_obj, put_double);

static void put_number(uint32_t number, uint64_t value) {
  reserve(WIRE_HEAD);
  if (value > 0) wire_put_number(&hot.frame, number, value);
}

void frame_content(bytes uri, bytes mime_type, bytes text, uint64_t ttl, uint64_t scope) {
  put_number(10, ttl);
  put_number(11, scope);
  reserve(WIRE_HEAD);
  size_t start = wire_begin(&hot.frame, 3);
  put_bytes(1, uri.at, uri.len);
  put_bytes(2, mime_type.at, mime_type.len);
  put_bytes(3, text.at, text.len);
  wire_end(&hot.frame, start);
}

// drop(): forgets what was collected.
static mp_obj_t drop(void) {
  frame_reset();
  return mp_const_none;
}
static MP_DEFINE_CONST_FUN_OBJ_0(drop_obj, drop);

// stop(signal): the host has ended the operation, by a signal.
static mp_obj_t stop(mp_obj_t signal) {
  hot.ended = mp_obj_get_int(signal);
  return mp_const_none;
}
static MP_DEFINE_CONST_FUN_OBJ_1(stop_obj, stop);

// stopped(): that signal, or the one for more.
static mp_obj_t stopped(void) { return MP_OBJ_NEW_SMALL_INT(hot.ended); }
static MP_DEFINE_CONST_FUN_OBJ_0(stopped_obj, stopped);

int32_t frame_emit(void) {
  int32_t signal = hot.frame.len > 0 ? host_emit(hot.frame.at, hot.frame.len) : WR_SIGNAL_MORE;
  frame_reset();
  return signal;
}

// emit(): sends the frame, and returns the host's signal.
static mp_obj_t emit(void) { return MP_OBJ_NEW_SMALL_INT(frame_emit()); }
static MP_DEFINE_CONST_FUN_OBJ_0(emit_obj, emit);

static int32_t send_chunk(void) {
  if (hot.chunk == 0) return WR_SIGNAL_MORE;
  int32_t signal = host_body(chunk, hot.chunk);
  hot.chunk = 0;
  return signal;
}

// Sends bytes of a content: those that fill a chunk leave, the rest is kept. Large ones are not copied.
static int32_t push(const uint8_t *at, size_t len) {
  int32_t signal = WR_SIGNAL_MORE;
  if (len >= CHUNK) signal = send_chunk();
  while (signal == WR_SIGNAL_MORE && len >= CHUNK) {
    size_t n = len < PIECE ? len : PIECE;
    signal = host_body(at, n);
    at += n, len -= n;
  }
  if (signal == WR_SIGNAL_MORE && hot.chunk + len > CHUNK) {
    size_t n = CHUNK - hot.chunk;
    memcpy(chunk + hot.chunk, at, n);
    hot.chunk = CHUNK, at += n, len -= n;
    signal = send_chunk();
  }
  if (signal != WR_SIGNAL_MORE) return signal;
  memcpy(chunk + hot.chunk, at, len);
  hot.chunk += len;
  return signal;
}

// body(data): of a str or what has bytes. Returns the host's signal.
static mp_obj_t body(mp_obj_t value) {
  mp_buffer_info_t b;
  mp_get_buffer_raise(value, &b, MP_BUFFER_READ);
  return MP_OBJ_NEW_SMALL_INT(push(b.buf, b.len));
}
static MP_DEFINE_CONST_FUN_OBJ_1(body_obj, body);

// end_body(): sends what is left of a content, and returns the host's signal.
static mp_obj_t end_body(void) { return MP_OBJ_NEW_SMALL_INT(send_chunk()); }
static MP_DEFINE_CONST_FUN_OBJ_0(end_body_obj, end_body);

static const mp_rom_map_elem_t frame_globals[] = {
  {MP_ROM_QSTR(MP_QSTR___name__), MP_ROM_QSTR(MP_QSTR__wasmres_frame)},
  {MP_ROM_QSTR(MP_QSTR_begin), MP_ROM_PTR(&begin_obj)},
  {MP_ROM_QSTR(MP_QSTR_end), MP_ROM_PTR(&end_obj)},
  {MP_ROM_QSTR(MP_QSTR_text), MP_ROM_PTR(&text_obj)},
  {MP_ROM_QSTR(MP_QSTR_element), MP_ROM_PTR(&element_obj)},
  {MP_ROM_QSTR(MP_QSTR_number), MP_ROM_PTR(&number_obj)},
  {MP_ROM_QSTR(MP_QSTR_double), MP_ROM_PTR(&double_obj)},
  {MP_ROM_QSTR(MP_QSTR_drop), MP_ROM_PTR(&drop_obj)},
  {MP_ROM_QSTR(MP_QSTR_stop), MP_ROM_PTR(&stop_obj)},
  {MP_ROM_QSTR(MP_QSTR_stopped), MP_ROM_PTR(&stopped_obj)},
  {MP_ROM_QSTR(MP_QSTR_emit), MP_ROM_PTR(&emit_obj)},
  {MP_ROM_QSTR(MP_QSTR_body), MP_ROM_PTR(&body_obj)},
  {MP_ROM_QSTR(MP_QSTR_end_body), MP_ROM_PTR(&end_body_obj)},
};
static MP_DEFINE_CONST_DICT(frame_dict, frame_globals);
const mp_obj_module_t frame_module = {.base = {&mp_type_module}, .globals = (mp_obj_dict_t *)&frame_dict};
MP_REGISTER_MODULE(MP_QSTR__wasmres_frame, frame_module);
