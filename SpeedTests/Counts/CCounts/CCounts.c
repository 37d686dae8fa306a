#define _GNU_SOURCE
#include "CCounts.h"
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stddef.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/types.h>
#include <sys/uio.h>
#include <unistd.h>

static atomic_long counts[COUNTS_KINDS];
// Whether a write to this open file is durable when it returns.
static atomic_bool is_durable[1024];

static void add(int kind, long number) {
  atomic_fetch_add_explicit(&counts[kind], number, memory_order_relaxed);
}

long counts_of(int kind) {
  return atomic_load_explicit(&counts[kind], memory_order_relaxed);
}

static int open_counted(int folder, const char *path, int flags, mode_t mode) {
  long file = syscall(SYS_openat, folder, path, flags, mode);
  add(COUNTS_OPENS, 1);
  if (file >= 0 && file < 1024) is_durable[file] = (flags & (O_DSYNC | O_SYNC)) != 0;
  return (int)file;
}

// The mode is there only if a file may be made, and harmless otherwise.
#define OPEN(name) \
  int name(const char *path, int flags, ...) { \
    va_list arguments; \
    va_start(arguments, flags); \
    mode_t mode = flags & (O_CREAT | O_TMPFILE) ? va_arg(arguments, mode_t) : 0; \
    va_end(arguments); \
    return open_counted(AT_FDCWD, path, flags, mode); \
  }
#define OPENAT(name) \
  int name(int folder, const char *path, int flags, ...) { \
    va_list arguments; \
    va_start(arguments, flags); \
    mode_t mode = flags & (O_CREAT | O_TMPFILE) ? va_arg(arguments, mode_t) : 0; \
    va_end(arguments); \
    return open_counted(folder, path, flags, mode); \
  }
OPEN(open)
OPEN(open64)
OPENAT(openat)
OPENAT(openat64)

static ssize_t written(int file, ssize_t size) {
  add(COUNTS_WRITES, 1);
  if (size > 0) add(COUNTS_BYTES, size);
  if (file >= 0 && file < 1024 && is_durable[file]) add(COUNTS_SYNCS, 1);
  return size;
}

ssize_t write(int file, const void *bytes, size_t size) {
  return written(file, syscall(SYS_write, file, bytes, size));
}

ssize_t writev(int file, const struct iovec *parts, int count) {
  return written(file, syscall(SYS_writev, file, parts, count));
}

ssize_t pwrite(int file, const void *bytes, size_t size, off_t offset) {
  return written(file, syscall(SYS_pwrite64, file, bytes, size, offset));
}

ssize_t pwrite64(int file, const void *bytes, size_t size, off64_t offset) {
  return written(file, syscall(SYS_pwrite64, file, bytes, size, offset));
}

int fsync(int file) {
  add(COUNTS_SYNCS, 1);
  return (int)syscall(SYS_fsync, file);
}

int fdatasync(int file) {
  add(COUNTS_SYNCS, 1);
  return (int)syscall(SYS_fdatasync, file);
}

int msync(void *address, size_t size, int flags) {
  if (flags & MS_SYNC) add(COUNTS_SYNCS, 1);
  return (int)syscall(SYS_msync, address, size, flags);
}

int rename(const char *old, const char *new) {
  add(COUNTS_RENAMES, 1);
  return (int)syscall(SYS_renameat2, AT_FDCWD, old, AT_FDCWD, new, 0);
}

int renameat(int old_folder, const char *old, int new_folder, const char *new) {
  add(COUNTS_RENAMES, 1);
  return (int)syscall(SYS_renameat2, old_folder, old, new_folder, new, 0);
}

int renameat2(int old_folder, const char *old, int new_folder, const char *new, unsigned flags) {
  add(COUNTS_RENAMES, 1);
  return (int)syscall(SYS_renameat2, old_folder, old, new_folder, new, flags);
}

#ifndef __has_feature
#define __has_feature(name) 0
#endif

// A sanitizer has allocation functions of its own.
#if !__has_feature(address_sanitizer) && !__has_feature(thread_sanitizer)

void *__libc_malloc(size_t size);
void *__libc_calloc(size_t count, size_t size);
void *__libc_realloc(void *memory, size_t size);
void *__libc_memalign(size_t alignment, size_t size);

void *malloc(size_t size) {
  add(COUNTS_ALLOCATIONS, 1);
  return __libc_malloc(size);
}

void *calloc(size_t count, size_t size) {
  add(COUNTS_ALLOCATIONS, 1);
  return __libc_calloc(count, size);
}

void *realloc(void *memory, size_t size) {
  add(COUNTS_ALLOCATIONS, 1);
  return __libc_realloc(memory, size);
}

void *aligned_alloc(size_t alignment, size_t size) {
  add(COUNTS_ALLOCATIONS, 1);
  return __libc_memalign(alignment, size);
}

int posix_memalign(void **memory, size_t alignment, size_t size) {
  add(COUNTS_ALLOCATIONS, 1);
  *memory = __libc_memalign(alignment, size);
  return *memory ? 0 : ENOMEM;
}

#endif
