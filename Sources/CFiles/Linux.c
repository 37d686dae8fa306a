// The calls on Linux.
#ifdef __linux__
#define _GNU_SOURCE
#include "CFiles.h"
#include <fcntl.h>
#include <limits.h>
#include <linux/futex.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <sys/mman.h>
#include <sys/random.h>
#include <sys/sendfile.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/vfs.h>
#include <time.h>
#include <sched.h>
#include <unistd.h>

long files_copy_range(int target, int source, unsigned long count) {
  return copy_file_range(source, NULL, target, NULL, count, 0);
}

long files_send(int target, int source, unsigned long count) {
  return sendfile(target, source, NULL, count);
}

int files_sync(int descriptor) { return fsync(descriptor); }

int files_sync_data(int descriptor) { return fdatasync(descriptor); }

int files_start_writing(int descriptor, long offset, long count) {
  return sync_file_range(descriptor, offset, count, SYNC_FILE_RANGE_WRITE);
}

int files_allocate(int descriptor, long offset, long count) {
  return posix_fallocate(descriptor, offset, count);
}

int files_is_remote(int descriptor) {
  struct statfs status;
  if (fstatfs(descriptor, &status) != 0) return -1;
  switch ((unsigned long)status.f_type & 0xFFFFFFFF) {
  case 0x6969:     // NFS
  case 0x517B:     // SMB
  case 0xFF534D42: // CIFS
  case 0xFE534D42: // SMB2
  case 0x01021997: // 9P
  case 0x5346414F: // AFS
  case 0x73757245: // Coda
  case 0x00C36400: // Ceph
  case 0x0BD00BD0: // Lustre
  case 0x564C:     // NCP
  case 0x01161970: // GFS2
  case 0x7461636F: // OCFS2
    return 1;
  default:
    return 0;
  }
}

// The half that counts comes first on a machine with the least significant byte first.
static void *low_half(const void *word) {
#if __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
  return (void *)word;
#else
  return (char *)word + 4;
#endif
}

void files_word_wait(const void *word, unsigned int expected, long nanoseconds) {
  struct timespec time = {nanoseconds / 1000000000, nanoseconds % 1000000000};
  syscall(SYS_futex, low_half(word), FUTEX_WAIT, expected, &time, NULL, 0);
}

void files_word_wake(const void *word) {
  syscall(SYS_futex, low_half(word), FUTEX_WAKE, INT_MAX, NULL, NULL, 0);
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
#ifdef __GLIBC__
  return renameat2(first_directory, first, second_directory, second, RENAME_EXCHANGE);
#else
  // musl has the function since 1.2.6 only.
  return (int)syscall(SYS_renameat2, first_directory, first, second_directory, second, 1 << 1);
#endif
}

int files_processor_count(void) {
  cpu_set_t processors;
  // It fails on a machine with more processors than the set has room for.
  if (sched_getaffinity(0, sizeof processors, &processors) == 0) return CPU_COUNT(&processors);
  return (int)sysconf(_SC_NPROCESSORS_ONLN);
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
#endif
