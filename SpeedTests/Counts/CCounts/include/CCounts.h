// Counts what a program asks of the C library and the system.
//
// The functions with these names are defined in the program itself, so that all of its code and all
// of its libraries call them instead of the C library's.
#pragma once

enum {
  COUNTS_ALLOCATIONS,  // malloc, calloc, realloc, and aligned memory
  COUNTS_OPENS,
  COUNTS_WRITES,
  COUNTS_BYTES,        // that were written by calls, not through mapped memory
  COUNTS_SYNCS,        // fsync, fdatasync, msync, and writes to files opened to be durable
  COUNTS_RENAMES,
  COUNTS_KINDS,
};

/// How many there were since the process began.
long counts_of(int kind);
