#define _GNU_SOURCE
#include "CFiles.h"
#include <fcntl.h>
#include <stdio.h>
#include <sys/mman.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>

int files_lock_shared(int descriptor) {
  struct flock lock = {.l_type = F_RDLCK, .l_whence = SEEK_SET};
  return fcntl(descriptor, F_OFD_SETLK, &lock);
}

int files_link_count(int descriptor) {
  struct statx status;
  if (statx(descriptor, "", AT_EMPTY_PATH, STATX_NLINK, &status) != 0) return -1;
  return (int)status.stx_nlink;
}

int files_open_direct(const char *path) {
  return open(path, O_WRONLY | O_DIRECT | O_DSYNC | O_CLOEXEC);
}

int files_open_memory(const char *name) { return memfd_create(name, MFD_CLOEXEC); }

int files_exchange(const char *first, const char *second) {
  return renameat2(AT_FDCWD, first, AT_FDCWD, second, RENAME_EXCHANGE);
}

long files_random(void *bytes, unsigned long count) { return getrandom(bytes, count, 0); }
