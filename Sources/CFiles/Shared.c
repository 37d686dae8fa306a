// The calls that are the same on all systems.
#define _GNU_SOURCE
#include "CFiles.h"
#include <fcntl.h>
#include <limits.h>
#include <sys/resource.h>

// Locks that belong to an open file, which not every SDK declares.
#ifndef F_OFD_SETLK
#define F_OFD_SETLK 90
#define F_OFD_GETLK 92
#endif

int files_lock_shared(int descriptor) {
  struct flock lock = {.l_type = F_RDLCK, .l_whence = SEEK_SET};
  return fcntl(descriptor, F_OFD_SETLK, &lock);
}

static int lock_byte(int descriptor, long byte, int type, int command, struct flock *lock) {
  *lock = (struct flock){
      .l_type = (short)type, .l_whence = SEEK_SET, .l_start = (off_t)byte, .l_len = 1};
  return fcntl(descriptor, command, lock);
}

int files_lock_byte(int descriptor, long byte, int mode) {
  struct flock lock;
  int type = mode == 2 ? F_WRLCK : mode == 1 ? F_RDLCK : F_UNLCK;
  return lock_byte(descriptor, byte, type, F_OFD_SETLK, &lock);
}

int files_byte_is_locked(int descriptor, long byte) {
  struct flock lock;
  if (lock_byte(descriptor, byte, F_WRLCK, F_OFD_GETLK, &lock) != 0) return -1;
  return lock.l_type == F_UNLCK ? 0 : 1;
}

unsigned long files_size_limit(void) {
  struct rlimit limit;
  if (getrlimit(RLIMIT_FSIZE, &limit) != 0) return ULONG_MAX;
  return limit.rlim_cur == RLIM_INFINITY ? ULONG_MAX : (unsigned long)limit.rlim_cur;
}
