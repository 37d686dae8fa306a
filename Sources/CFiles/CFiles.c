#define _GNU_SOURCE
#include "CFiles.h"
#include <fcntl.h>
#include <sys/stat.h>

int files_link_count(int descriptor) {
  struct statx status;
  if (statx(descriptor, "", AT_EMPTY_PATH, STATX_NLINK, &status) != 0) return -1;
  return (int)status.stx_nlink;
}

int files_open_direct(const char *path) {
  return open(path, O_WRONLY | O_DIRECT | O_DSYNC | O_CLOEXEC);
}
