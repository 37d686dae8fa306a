#define _GNU_SOURCE
#include "CFiles.h"
#include <fcntl.h>
#include <pthread.h>
#include <stdatomic.h>
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

int files_open_direct(int directory, const char *name) {
  return openat(directory, name, O_WRONLY | O_DIRECT | O_DSYNC | O_CLOEXEC | O_NONBLOCK);
}

int files_open_memory(const char *name) { return memfd_create(name, MFD_CLOEXEC); }

int files_exchange(int first_directory, const char *first, int second_directory, const char *second) {
  return renameat2(first_directory, first, second_directory, second, RENAME_EXCHANGE);
}

long files_random(void *bytes, unsigned long count) { return getrandom(bytes, count, 0); }

static atomic_ulong process_in_static_memory;
static atomic_ulong *process = &process_in_static_memory;
static pthread_once_t process_once = PTHREAD_ONCE_INIT;

static void forget_process(void) { atomic_store_explicit(process, 0, memory_order_relaxed); }

static void prepare_process(void) {
  size_t size = (size_t)sysconf(_SC_PAGESIZE);
  void *page = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (page != MAP_FAILED) {
    process = page;
    // Also for children that were not made by the C library's fork.
    madvise(page, size, MADV_WIPEONFORK);
  }
  pthread_atfork(NULL, NULL, forget_process);
}

unsigned long files_process(void) {
  pthread_once(&process_once, prepare_process);
  unsigned long known = atomic_load_explicit(process, memory_order_relaxed);
  if (known != 0) return known;
  unsigned long number = 0;
  if (getrandom(&number, sizeof number, GRND_NONBLOCK) != sizeof number || number == 0) {
    number = (unsigned long)getpid();
  }
  return atomic_compare_exchange_strong(process, &known, number) ? number : known;
}
