// The calls on macOS. Nobody has compiled or run them yet: see CONTRIBUTING.md.
#ifdef __APPLE__
#include "CFiles.h"
#include <errno.h>
#include <fcntl.h>
#include <os/os_sync_wait_on_address.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mount.h>
#include <sys/param.h>
#include <sys/stat.h>
#include <unistd.h>

static int unsupported(void) {
  errno = ENOTSUP;
  return -1;
}

// There is no such call, so callers use files_send.
long files_copy_range(int target, int source, unsigned long count) {
  (void)target, (void)source, (void)count;
  return unsupported();
}

// sendfile only sends to sockets here.
long files_send(int target, int source, unsigned long count) {
  static const unsigned long most = 1 << 16;
  char buffer[1 << 16];
  ssize_t got = read(source, buffer, count < most ? count : most);
  if (got <= 0) return got;
  ssize_t done = 0;
  while (done < got) {
    ssize_t part = write(target, buffer + done, (size_t)(got - done));
    if (part < 0 && errno != EINTR) return -1;
    if (part > 0) done += part;
  }
  return done;
}

// fsync leaves the bytes in the cache of the disk. Some file systems support nothing else.
int files_sync(int descriptor) {
  if (fcntl(descriptor, F_FULLFSYNC) == 0) return 0;
  if (errno != ENOTSUP && errno != EINVAL && errno != ENOTTY) return -1;
  return fsync(descriptor);
}

int files_sync_data(int descriptor) { return files_sync(descriptor); }

int files_start_writing(int descriptor, long offset, long count) {
  (void)descriptor, (void)offset, (void)count;
  return 0;
}

int files_allocate(int descriptor, long offset, long count) {
  struct stat status;
  if (fstat(descriptor, &status) != 0) return errno;
  off_t end = (off_t)offset + count;
  if (end <= status.st_size) return 0;
  fstore_t space = {
      .fst_flags = F_ALLOCATEALL, .fst_posmode = F_PEOFPOSMODE, .fst_length = end - status.st_size};
  if (fcntl(descriptor, F_PREALLOCATE, &space) != 0) return errno;
  return ftruncate(descriptor, end) == 0 ? 0 : errno;
}

int files_is_remote(int descriptor) {
  struct statfs status;
  if (fstatfs(descriptor, &status) != 0) return -1;
  return (status.f_flags & MNT_LOCAL) == 0;
}

// The least significant byte of a word comes first on all machines with macOS.
void files_word_wait(const void *word, unsigned int expected, long nanoseconds) {
  if (nanoseconds <= 0) return;
  os_sync_wait_on_address_with_timeout(
      (void *)word, expected, 4, OS_SYNC_WAIT_ON_ADDRESS_SHARED, OS_CLOCK_MACH_ABSOLUTE_TIME,
      (uint64_t)nanoseconds);
}

void files_word_wake(const void *word) {
  os_sync_wake_by_address_all((void *)word, 4, OS_SYNC_WAKE_BY_ADDRESS_SHARED);
}

int files_link_count(int descriptor) {
  struct stat status;
  return fstat(descriptor, &status) != 0 ? -1 : (int)status.st_nlink;
}

// F_NOCACHE does not make writes durable, so callers write and sync.
int files_open_direct(int directory, const char *name) {
  (void)directory, (void)name;
  return unsupported();
}

int files_open_memory(const char *name) {
  (void)name;
  return unsupported();
}

int files_exchange(int first_directory, const char *first, int second_directory, const char *second) {
  return renameatx_np(first_directory, first, second_directory, second, RENAME_SWAP);
}

int files_processor_count(void) { return (int)sysconf(_SC_NPROCESSORS_ONLN); }

long files_random(void *bytes, unsigned long count) {
  arc4random_buf(bytes, count);
  return (long)count;
}

static atomic_ulong process;
static pthread_once_t process_once = PTHREAD_ONCE_INIT;

static void forget_process(void) { atomic_store_explicit(&process, 0, memory_order_relaxed); }

static void prepare_process(void) { pthread_atfork(NULL, NULL, forget_process); }

unsigned long files_process(void) {
  pthread_once(&process_once, prepare_process);
  unsigned long known = atomic_load_explicit(&process, memory_order_relaxed);
  if (known != 0) return known;
  unsigned long number = 0;
  while (number == 0) arc4random_buf(&number, sizeof number);
  return atomic_compare_exchange_strong(&process, &known, number) ? number : known;
}
#endif
