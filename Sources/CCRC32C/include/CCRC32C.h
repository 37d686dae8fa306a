#ifndef CCRC32C_H
#define CCRC32C_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/// Whether the processor has an instruction for CRC-32C.
bool crc32c_has_instruction(void);

/// Takes bytes into a CRC-32C register by that instruction; only where there is one.
uint32_t crc32c_update(uint32_t crc, const void *bytes, size_t count);

#endif
