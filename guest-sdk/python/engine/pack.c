// The files of a provider, and their code.
#include <stdio.h>
#include <string.h>

#include "engine.h"
#include "py/runtime.h"

void *memory_take(size_t size);

// A pack begins with the number of files that are the provider's own, which come first. Then there are files: the lengths
// of name and text, then both, each with a NUL. Numbers have 32 bits.
static char *pack;
static size_t pack_size;

enum { COUNT = sizeof(uint32_t) };

bool pack_load(uint32_t len) {
  if (len < COUNT || !(pack = memory_take(len))) return false;
  pack_size = host_take(WR_CHANNEL_REQUEST, pack, 0, len);
  return pack_size == len;
}

// The tool that has written the pack is trusted: it could as well have written any code.
source pack_next(size_t *at) {
  static uint32_t index, own;
  source s = {0};
  uint32_t lengths[2];
  if (*at == 0) {
    memcpy(&own, pack, COUNT);
    *at = COUNT, index = 0;
  }
  if (*at >= pack_size) return s;
  memcpy(lengths, pack + *at, sizeof lengths);
  s.name = pack + *at + sizeof lengths;
  s.text = s.name + lengths[0] + 1;
  s.len = lengths[1];
  s.own = index++ < own;
  *at += sizeof lengths + lengths[0] + 1 + lengths[1] + 1;
  return s;
}

void pack_drop_sources(void) {
  memset(pack, 0, pack_size);
  memory_add(pack, pack_size);
  pack = NULL, pack_size = 0;
}

// The code of the files, in the order of the pack.
typedef struct file {
  struct file *next;
  const char *name;
  bool own; // of the provider
  mp_compiled_module_t code;
} file;

MP_REGISTER_ROOT_POINTER(void *wasmres_files);

static file *first_file(void) { return MP_STATE_VM(wasmres_files); }

void pack_add_code(source s, mp_compiled_module_t code) {
  file *f = m_new_obj(file);
  *f = (file){NULL, qstr_str(qstr_from_str(s.name)), s.own, code};
  file *last = first_file();
  while (last && last->next) last = last->next;
  if (last) last->next = f;
  else MP_STATE_VM(wasmres_files) = f;
}

const mp_compiled_module_t *pack_code(const char *name) {
  for (file *f = first_file(); f; f = f->next)
    if (strcmp(f->name, name) == 0) return &f->code;
  return NULL;
}

bool pack_is_own(const char *name) {
  for (file *f = first_file(); f; f = f->next)
    if (strcmp(f->name, name) == 0) return f->own;
  return false;
}

bool pack_has_folder(const char *name) {
  size_t len = strlen(name);
  for (file *f = first_file(); f; f = f->next)
    if (strncmp(f->name, name, len) == 0 && f->name[len] == '/') return true;
  return false;
}

qstr pack_module(const char *path) {
  char name[256];
  size_t len = strlen(path), suffix = strlen(".py"), package = strlen("/__init__.py");
  if (len > package && strcmp(path + len - package, "/__init__.py") == 0) suffix = package;
  snprintf(name, sizeof name, "%.*s", (int)(len - suffix), path);
  for (char *c = name; *c; c++)
    if (*c == '/') *c = '.';
  return qstr_from_str(name);
}

void pack_forget_modules(void) {
  for (file *f = first_file(); f; f = f->next) {
    mp_obj_t name = MP_OBJ_NEW_QSTR(f->own ? pack_module(f->name) : MP_QSTRnull);
    if (f->own) mp_map_lookup(&MP_STATE_VM(mp_loaded_modules_dict).map, name, MP_MAP_LOOKUP_REMOVE_IF_FOUND);
  }
}

const char *pack_entry(void) { return first_file() ? first_file()->name : NULL; }
