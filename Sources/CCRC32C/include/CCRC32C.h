#ifndef CCRC32C_H
#define CCRC32C_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/// Whether the processor has an instruction for CRC-32C.
bool crc32c_has_instruction(void);

/// Takes bytes into a CRC-32C register by that instruction; only where there is one.
uint32_t crc32c_update(uint32_t crc, const void *bytes, size_t count);

/// The same, with the last of each eight bytes first; the count is a multiple of eight.
uint32_t crc32c_update_reversed(uint32_t crc, const void *bytes, size_t count);

/// The same for a byte, a number of four bytes, the least significant first, and then bytes.
uint32_t crc32c_update_row(
  uint32_t crc, uint8_t class_id, uint32_t row_id, const void *bytes, size_t count);

#endif
