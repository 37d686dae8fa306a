#include "CCRC32C.h"
#include <string.h>

#if defined(__x86_64__)

bool crc32c_has_instruction(void) { return __builtin_cpu_supports("sse4.2"); }

__attribute__((target("sse4.2")))
static uint64_t eight(uint64_t crc, uint64_t bytes) { return __builtin_ia32_crc32di(crc, bytes); }

__attribute__((target("sse4.2")))
static uint32_t four(uint32_t crc, uint32_t bytes) { return __builtin_ia32_crc32si(crc, bytes); }

__attribute__((target("sse4.2")))
static uint32_t one(uint32_t crc, uint8_t byte) { return __builtin_ia32_crc32qi(crc, byte); }

#define TARGET __attribute__((target("sse4.2")))

#elif defined(__aarch64__)

#include <arm_acle.h>

#ifdef __APPLE__
// All machines with macOS have it.
bool crc32c_has_instruction(void) { return true; }
#else
#include <sys/auxv.h>

#ifndef HWCAP_CRC32
#define HWCAP_CRC32 (1 << 7)
#endif

bool crc32c_has_instruction(void) { return (getauxval(AT_HWCAP) & HWCAP_CRC32) != 0; }
#endif

__attribute__((target("crc")))
static uint64_t eight(uint64_t crc, uint64_t bytes) { return __crc32cd((uint32_t)crc, bytes); }

__attribute__((target("crc")))
static uint32_t four(uint32_t crc, uint32_t bytes) { return __crc32cw(crc, bytes); }

__attribute__((target("crc")))
static uint32_t one(uint32_t crc, uint8_t byte) { return __crc32cb(crc, byte); }

#define TARGET __attribute__((target("crc")))

#else

bool crc32c_has_instruction(void) { return false; }

static uint64_t eight(uint64_t crc, uint64_t bytes) { return crc ^ bytes; }
static uint32_t four(uint32_t crc, uint32_t bytes) { return crc ^ bytes; }
static uint32_t one(uint32_t crc, uint8_t byte) { return crc ^ byte; }

#define TARGET

#endif

TARGET uint32_t crc32c_update(uint32_t crc, const void *bytes, size_t count) {
  const uint8_t *next = bytes;
  uint64_t state = crc;
  for (; count >= 8; count -= 8, next += 8) {
    uint64_t word;
    memcpy(&word, next, 8);
    state = eight(state, word);
  }
  uint32_t result = (uint32_t)state;
  if (count >= 4) {
    uint32_t word;
    memcpy(&word, next, 4);
    result = four(result, word);
    count -= 4;
    next += 4;
  }
  for (; count > 0; count--, next++) result = one(result, *next);
  return result;
}

TARGET uint32_t crc32c_update_reversed(uint32_t crc, const void *bytes, size_t count) {
  const uint8_t *next = bytes;
  uint64_t state = crc;
  for (; count >= 8; count -= 8, next += 8) {
    uint64_t word;
    memcpy(&word, next, 8);
    state = eight(state, __builtin_bswap64(word));
  }
  return (uint32_t)state;
}

TARGET uint32_t crc32c_update_row(
    uint32_t crc, uint8_t class_id, uint32_t row_id, const void *bytes, size_t count) {
  return crc32c_update(four(one(crc, class_id), row_id), bytes, count);
}
