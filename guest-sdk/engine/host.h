// The functions of the host, and what it asks of a guest: see docs/abi.md.
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "wasmres_abi.h"

#define IMPORT(name) __attribute__((import_module(WR_IMPORT_MODULE), import_name(name))) extern
#define EXPORT(name) __attribute__((export_name(name)))

IMPORT(WR_IMPORT_TAKE) uint32_t host_take(uint32_t channel, void *dst, uint32_t off, uint32_t len);
IMPORT(WR_IMPORT_EMIT) int32_t host_emit(const void *frame, uint32_t len);
IMPORT(WR_IMPORT_BODY) int32_t host_body(const void *bytes, uint32_t len);
IMPORT(WR_IMPORT_CALL) uint64_t host_call(uint32_t service, const void *request, uint32_t len);
IMPORT(WR_IMPORT_LOG) void host_log(uint32_t level, const void *text, uint32_t len);
IMPORT(WR_IMPORT_INFO) uint64_t host_info(uint32_t id);
