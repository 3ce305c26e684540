// A host for guests in C that are built natively, so that sanitizers can watch them. It reads calls from standard input
// and writes what they came to to standard output; abi/abitest/c_test.go is at the other end. Numbers have four bytes,
// the lowest first; bytes have their length before them.
//
//   a call:     op, request, number of answers, answers: code, message, body
//   an outcome: code, frames put together, bodies put together, number of service calls, calls: service, request
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "wasmres.h"

#if defined(__has_feature)
#if __has_feature(address_sanitizer)
#include <sanitizer/asan_interface.h>
#endif
#endif
#ifndef ASAN_POISON_MEMORY_REGION
#define ASAN_POISON_MEMORY_REGION(at, n) ((void)(at), (void)(n))
#define ASAN_UNPOISON_MEMORY_REGION(at, n) ((void)(at), (void)(n))
#endif

enum { MAX_BODY = 1 << 20, MAX_FRAMES = 16 << 10, MAX_REQUEST_BUFFER = WR_MAX_REQUEST };

typedef struct bytes {
  uint8_t *at; // of exactly len bytes, so that whoever reads more is caught
  size_t len;
} bytes;

typedef struct answer {
  uint32_t code;
  bytes message, body;
} answer;

static bytes request, frames, body, calls;
static answer *answers;
static uint32_t answer_count, answered, call_count;
static uint8_t *poisoned; // the request buffer of the guest, of which only the request may be read

// What a buffer for an answer has beyond the answer, until the guest calls the next time.
static struct {
  uint8_t *at;
  size_t len;
} beyond;

static void fail(const char *what) {
  fprintf(stderr, "host.c: %s\n", what);
  exit(3);
}

static void append(bytes *b, const void *at, size_t len) {
  if (len == 0) return;
  b->at = realloc(b->at, b->len + len);
  if (!b->at) fail("out of memory");
  memcpy(b->at + b->len, at, len);
  b->len += len;
}

static void clear(bytes *b) {
  free(b->at);
  b->at = NULL;
  b->len = 0;
}

static bool read_number(uint32_t *n) {
  uint8_t b[4];
  if (fread(b, 1, 4, stdin) != 4) return false;
  *n = b[0] | b[1] << 8 | b[2] << 16 | (uint32_t)b[3] << 24;
  return true;
}

static void read_bytes(bytes *b) {
  uint32_t len;
  clear(b);
  if (!read_number(&len)) fail("a call is cut");
  b->at = malloc(len ? len : 1);
  b->len = len;
  if (!b->at || fread(b->at, 1, len, stdin) != len) fail("a call is cut");
}

static void write_number(uint32_t n) {
  for (int i = 0; i < 4; i++) putchar(n >> 8 * i & 0xff);
}

static void write_bytes(const bytes *b) {
  write_number((uint32_t)b->len);
  if (b->len > 0) fwrite(b->at, 1, b->len, stdout);
}

static void append_number(bytes *b, uint32_t n) {
  uint8_t four[4] = {n & 0xff, n >> 8 & 0xff, n >> 16 & 0xff, n >> 24};
  append(b, four, 4);
}

static const bytes *channel_bytes(uint32_t channel) {
  static const bytes none;
  if (channel == WR_CHANNEL_REQUEST) return &request;
  if (channel > WR_CHANNEL_BODY) fail("take of an unknown channel");
  if (answered == 0 || answered > answer_count || answers[answered - 1].code) return &none;
  return channel == WR_CHANNEL_RESPONSE ? &answers[answered - 1].message : &answers[answered - 1].body;
}

static void poison_beyond(uint8_t *at, size_t len) {
  beyond.at = at;
  beyond.len = len;
  ASAN_POISON_MEMORY_REGION(at, len);
}

static void unpoison_beyond(void) {
  ASAN_UNPOISON_MEMORY_REGION(beyond.at, beyond.len);
  beyond.len = 0;
}

uint32_t wr_host_take(uint32_t channel, void *to, uint32_t off, uint32_t len) {
  const bytes *from = channel_bytes(channel);
  size_t n = off < from->len ? from->len - off : 0;
  if (n > len) n = len;
  unpoison_beyond();
  if (n > 0) memcpy(to, from->at + off, n);
  if (channel == WR_CHANNEL_REQUEST) {
    poisoned = to;
    ASAN_POISON_MEMORY_REGION(poisoned + n, MAX_REQUEST_BUFFER - n);
  } else {
    poison_beyond((uint8_t *)to + n, len - n);
  }
  return (uint32_t)n;
}

int32_t wr_host_emit(const void *frame, uint32_t len) {
  if (len > WR_MAX_FRAME) fail("a frame is too large");
  unpoison_beyond();
  append(&frames, frame, len);
  return frames.len >= MAX_FRAMES ? WR_SIGNAL_ENOUGH : WR_SIGNAL_MORE;
}

int32_t wr_host_body(const void *at, uint32_t len) {
  unpoison_beyond();
  append(&body, at, len);
  return body.len > MAX_BODY ? WR_SIGNAL_TOO_LARGE : WR_SIGNAL_MORE;
}

uint64_t wr_host_call(uint32_t service, const void *at, uint32_t len) {
  unpoison_beyond();
  append_number(&calls, service);
  append_number(&calls, len);
  append(&calls, at, len);
  call_count++;
  if (answered < answer_count + 1) answered++;
  if (answered > answer_count) return (uint64_t)WR_CODE_DENIED << 32;
  const answer *a = &answers[answered - 1];
  return (uint64_t)a->code << 32 | (a->code ? 0 : (uint32_t)a->message.len);
}

void wr_host_log(uint32_t level, const void *text, uint32_t len) {
  if (level > WR_LOG_ERROR || len > 1 << 10) fail("a bad line for the log");
  fwrite(text, 1, len, stderr);
  putc('\n', stderr);
}

uint64_t wr_info(uint32_t id) { return id == WR_INFO_DEADLINE ? 1000000000 : 0; }

static bool read_call(uint32_t *op) {
  if (!read_number(op)) return false;
  read_bytes(&request);
  if (!read_number(&answer_count)) fail("a call is cut");
  answers = calloc(answer_count + 1, sizeof *answers);
  if (!answers) fail("out of memory");
  for (uint32_t i = 0; i < answer_count; i++) {
    if (!read_number(&answers[i].code)) fail("a call is cut");
    read_bytes(&answers[i].message);
    read_bytes(&answers[i].body);
  }
  return true;
}

static void end_call(void) {
  unpoison_beyond();
  if (poisoned) ASAN_UNPOISON_MEMORY_REGION(poisoned, MAX_REQUEST_BUFFER);
  for (uint32_t i = 0; i < answer_count; i++) {
    clear(&answers[i].message);
    clear(&answers[i].body);
  }
  free(answers);
  clear(&request);
  clear(&frames);
  clear(&body);
  clear(&calls);
  answered = call_count = 0;
}

int main(void) {
  uint32_t op;
  while (read_call(&op)) {
    uint32_t code = wasmres_v1(op, (uint32_t)request.len);
    write_number(code);
    write_bytes(&frames);
    write_bytes(&body);
    write_number(call_count);
    if (calls.len > 0) fwrite(calls.at, 1, calls.len, stdout);
    fflush(stdout);
    end_call();
  }
  return 0;
}
