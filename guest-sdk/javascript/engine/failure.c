#include <stdio.h>
#include <string.h>

#include "engine.h"

enum { MAX_CAUSES = 4 }; // of an error, that are told

void log_line(uint32_t level, const char *text) { host_log(level, text, strlen(text)); }

// A property as a text, or NULL: what stands in an error may be anything, and throw in turn.
static const char *text_property(JSValueConst object, const char *name) {
  JSValue value = JS_GetPropertyStr(ctx, object, name);
  const char *text = JS_IsString(value) ? utf8_of(value).at : NULL;
  if (!text) JS_FreeValue(ctx, JS_GetException(ctx));
  JS_FreeValue(ctx, value);
  return text;
}

// A function (stack): the stack with the places of the sources that a bundle was made of.
static JSValue locate = JS_UNDEFINED;

void failure_locate(JSValueConst function) {
  JS_FreeValue(ctx, locate);
  locate = JS_DupValue(ctx, function);
}

bool failure_is_located(void) { return JS_IsFunction(ctx, locate); }

// A stack with the places of the sources, or NULL where locate fails, as for want of memory.
static const char *located(const char *stack) {
  JSValue raw = JS_NewString(ctx, stack), result = JS_Call(ctx, locate, JS_UNDEFINED, 1, (JSValueConst *)&raw);
  const char *text = JS_IsString(result) ? utf8_of(result).at : NULL;
  JS_FreeValue(ctx, raw);
  JS_FreeValue(ctx, result);
  if (!text) JS_FreeValue(ctx, JS_GetException(ctx));
  return text;
}

// The stack of an error, or NULL. It is that of the bundle where it cannot be located.
static const char *stack_of(JSValueConst error) {
  const char *stack = JS_IsError(error) ? text_property(error, "stack") : NULL;
  const char *text = stack && failure_is_located() ? located(stack) : NULL;
  if (!text) return stack;
  JS_FreeCString(ctx, stack);
  return text;
}

static void free_text(const char *text) {
  if (text) JS_FreeCString(ctx, text);
}

// Writes "name: message", or whatever was thrown in place of an error.
static void describe(char *room, size_t size, JSValueConst error) {
  if (!JS_IsError(error)) {
    const char *text = utf8_of(error).at;
    if (!text) JS_FreeValue(ctx, JS_GetException(ctx));
    snprintf(room, size, "thrown: %s", text ? text : "something that is no text");
    free_text(text);
    return;
  }
  const char *name = text_property(error, "name"), *message = text_property(error, "message");
  bool both = message && *message;
  snprintf(room, size, "%s%s%s", name ? name : "Error", both ? ": " : "", both ? message : "");
  free_text(name);
  free_text(message);
}

// The first place of a stack that is in a file of the provider, as in "provider.js:12:5".
static utf8 place_in(const char *stack) {
  for (const char *line = stack; line && *line;) {
    size_t len = strcspn(line, "\n");
    const char *at = memchr(line, '(', len);
    at = at ? at + 1 : line + strspn(line, " ");
    if (strncmp(at, "at ", 3) == 0) at += 3;
    utf8 place = {at, strcspn(at, ")\n")};
    if (memchr(at, ':', place.len) && strncmp(at, "wasmres:", 8) != 0) return place;
    line += len;
    if (*line) line++;
  }
  return (utf8){"", 0};
}

// Takes off a text that fills its room the character that was cut.
static void mend_end(char *room, size_t size) {
  size_t len = strlen(room);
  if (len + 1 < size) return;
  while (len > 0 && ((uint8_t)room[len - 1] & 0xc0) == 0x80) len--;
  if (len > 0 && (uint8_t)room[len - 1] >= 0xc0) len--;
  room[len] = 0;
}

void failure_summary(char *room, size_t size, JSValueConst error) {
  const char *stack = stack_of(error);
  utf8 place = place_in(stack);
  int n = snprintf(room, size, "%.*s%s", (int)place.len, place.at, place.len > 0 ? ": " : "");
  if (n >= 0 && (size_t)n < size) describe(room + n, size - n, error);
  mend_end(room, size);
  free_text(stack);
}

void failure_told_at(char *room, size_t size, const char *stack) {
  const char *text = failure_is_located() ? located(stack) : NULL;
  utf8 place = place_in(text ? text : stack);
  snprintf(room, size, "stopped at %.*s\n%s", (int)place.len, place.at, text ? text : stack);
  mend_end(room, size);
  free_text(text);
}

static bool is_out_of_memory(JSValueConst error) {
  if (!memory_was_refused() || !JS_IsError(error)) return false;
  const char *name = text_property(error, "name"), *message = text_property(error, "message");
  bool is = name && message && strcmp(name, "InternalError") == 0 && strcmp(message, "out of memory") == 0;
  free_text(name);
  free_text(message);
  return is;
}

static void log_one(const char *before, JSValueConst error) {
  char room[1024];
  size_t n = (size_t)snprintf(room, sizeof room, "%s", before);
  describe(room + n, sizeof room - n, error);
  log_line(WR_LOG_ERROR, room);
  const char *stack = stack_of(error);
  if (stack && *stack) log_line(WR_LOG_ERROR, stack);
  free_text(stack);
}

void failure_log(JSValueConst error) {
  log_one("", error);
  JSValue cause = JS_DupValue(ctx, error);
  for (int i = 0; i < MAX_CAUSES && JS_IsError(cause); i++) {
    JSValue next = JS_GetPropertyStr(ctx, cause, "cause");
    if (JS_IsException(next)) JS_FreeValue(ctx, JS_GetException(ctx));
    JS_FreeValue(ctx, cause);
    cause = next;
    if (!JS_IsUndefined(cause) && !JS_IsException(cause)) log_one("caused by ", cause);
  }
  JS_FreeValue(ctx, cause);
}

// The host knows why a guest that was refused memory traps, and tells the limit. A code would be a failure like any other.
void failure_end(JSValueConst error) {
  bool trap = is_out_of_memory(error);
  failure_log(error);
  if (trap) __builtin_trap();
}
