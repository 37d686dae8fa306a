// Records what a process has on its disk at each moment at which it matters: before every sync, rename,
// removal and creation of a file in one directory.
//
// Preloaded (LD_PRELOAD) into a process that works on the directory POWER_DIR. Each record goes to the
// file POWER_TRACE:
//
//     kind (1 byte) | inode (8) | text length (4) | text | count of files (4)
//     and for each file: inode (8) | name length (4) | name | size (8) | content
//
// Kinds:
// - 's': sync of a file
// - 'd': sync of the directory
// - 'r': rename (text: old NUL new)
// - 'x': two names that change places (text: the same)
// - 'u': unlink
// - 'c': an open that may create or empty a file
// - 'w': a write that is durable when it returns (text: offset (8) and the bytes)
//
// A call is recorded before it is made. A call that fails is followed by nothing, as after a power
// cut.
#define _GNU_SOURCE
#include <dirent.h>
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static FILE *trace;
static char folder[4096];

__attribute__((constructor)) static void start(void) {
  const char *path = getenv("POWER_TRACE"), *dir = getenv("POWER_DIR");
  if (!path || !dir || !realpath(dir, folder)) return;
  trace = fopen(path, "we");
}

static void number(uint64_t value, int size) { fwrite(&value, size, 1, trace); }

static void text(const char *bytes, size_t size) {
  number(size, 4);
  fwrite(bytes, 1, size, trace);
}

static void content(const char *path, uint64_t size) {
  int (*real_open)(const char *, int, ...) = dlsym(RTLD_NEXT, "open");
  int file = real_open(path, O_RDONLY | O_CLOEXEC);
  char *bytes = calloc(1, size + 1);
  size_t done = 0;
  while (file >= 0 && done < size) {
    ssize_t part = pread(file, bytes + done, size - done, done);
    if (part <= 0) break;
    done += part;
  }
  fwrite(bytes, 1, size, trace);
  free(bytes);
  // This releases the process's own locks on the file, which keep out others that are not here.
  if (file >= 0) close(file);
}

static void snapshot(void) {
  char path[8192];
  struct stat status;
  struct dirent *entry;
  uint32_t count = 0;
  DIR *directory = opendir(folder);
  while (directory && (entry = readdir(directory)))
    if (entry->d_type == DT_REG) count++;
  number(count, 4);
  if (!directory) return;
  rewinddir(directory);
  while ((entry = readdir(directory))) {
    if (entry->d_type != DT_REG) continue;
    snprintf(path, sizeof path, "%s/%s", folder, entry->d_name);
    if (stat(path, &status)) memset(&status, 0, sizeof status);
    number(status.st_ino, 8);
    text(entry->d_name, strlen(entry->d_name));
    number(status.st_size, 8);
    content(path, status.st_size);
  }
  closedir(directory);
}

// Between begin() and finish() there is a record, and the call behind it; no other thread has one there.
static void record(char kind, uint64_t inode, const char *bytes, size_t size) {
  fputc(kind, trace);
  number(inode, 8);
  text(bytes, size);
  snapshot();
  fflush(trace);
}

static void begin(void) { pthread_mutex_lock(&lock); }

static long finish(long result) {
  int number = errno;
  pthread_mutex_unlock(&lock);
  errno = number;
  return result;
}

// Whether a descriptor is of the directory.
static int is_folder(int file) {
  struct stat status, mine;
  return fstat(file, &status) == 0 && stat(folder, &mine) == 0 && status.st_ino == mine.st_ino &&
         status.st_dev == mine.st_dev;
}

// The name in the directory that a path leads to, by itself or through a descriptor of the directory.
static const char *inside(const char *path) {
  size_t length = strlen(folder);
  int file, end = 0;
  if (trace && sscanf(path, "/proc/self/fd/%d/%n", &file, &end) == 1 && end > 0)
    return is_folder(file) ? path + end : NULL;
  if (!trace || strncmp(path, folder, length) || path[length] != '/') return NULL;
  return path + length + 1;
}

static const char *inside_at(int at, const char *path) {
  if (at == AT_FDCWD || path[0] == '/') return inside(path);
  return trace && strcmp(path, ".") && is_folder(at) ? path : NULL;
}

static void record_sync(int file) {
  struct stat status, mine;
  if (!trace || fstat(file, &status) || stat(folder, &mine)) return;
  record(status.st_ino == mine.st_ino ? 'd' : 's', status.st_ino, "", 0);
}

int fsync(int file) {
  int (*real)(int) = dlsym(RTLD_NEXT, "fsync");
  begin();
  record_sync(file);
  return finish(real(file));
}

int fdatasync(int file) {
  int (*real)(int) = dlsym(RTLD_NEXT, "fdatasync");
  begin();
  record_sync(file);
  return finish(real(file));
}

static void record_write(int file, const void *bytes, size_t size, off_t offset) {
  struct stat status;
  int flags = trace ? fcntl(file, F_GETFL) : -1;
  if (flags < 0 || !(flags & O_DSYNC) || fstat(file, &status)) return;
  uint64_t place = offset;
  char *text = malloc(size + 8);
  memcpy(text, &place, 8);
  memcpy(text + 8, bytes, size);
  record('w', status.st_ino, text, size + 8);
  free(text);
}

ssize_t pwrite(int file, const void *bytes, size_t size, off_t offset) {
  ssize_t (*real)(int, const void *, size_t, off_t) = dlsym(RTLD_NEXT, "pwrite");
  begin();
  record_write(file, bytes, size, offset);
  return finish(real(file, bytes, size, offset));
}

ssize_t pwrite64(int file, const void *bytes, size_t size, off64_t offset) {
  ssize_t (*real)(int, const void *, size_t, off64_t) = dlsym(RTLD_NEXT, "pwrite64");
  begin();
  record_write(file, bytes, size, offset);
  return finish(real(file, bytes, size, offset));
}

static void record_rename(char kind, const char *old, const char *new) {
  if (!old || !new) return;
  char names[8192];
  int first = snprintf(names, 4096, "%s", old) + 1;
  int second = snprintf(names + first, 4096, "%s", new);
  record(kind, 0, names, first + second);
}

int rename(const char *old, const char *new) {
  int (*real)(const char *, const char *) = dlsym(RTLD_NEXT, "rename");
  begin();
  record_rename('r', inside(old), inside(new));
  return finish(real(old, new));
}

int renameat(int old_at, const char *old, int new_at, const char *new) {
  int (*real)(int, const char *, int, const char *) = dlsym(RTLD_NEXT, "renameat");
  begin();
  record_rename('r', inside_at(old_at, old), inside_at(new_at, new));
  return finish(real(old_at, old, new_at, new));
}

int renameat2(int old_at, const char *old, int new_at, const char *new, unsigned int flags) {
  int (*real)(int, const char *, int, const char *, unsigned int) = dlsym(RTLD_NEXT, "renameat2");
  char kind = flags & RENAME_EXCHANGE ? 'x' : 'r';
  begin();
  record_rename(kind, inside_at(old_at, old), inside_at(new_at, new));
  return finish(real(old_at, old, new_at, new, flags));
}

static void record_name(char kind, const char *name) {
  if (name) record(kind, 0, name, strlen(name));
}

int unlink(const char *path) {
  int (*real)(const char *) = dlsym(RTLD_NEXT, "unlink");
  begin();
  record_name('u', inside(path));
  return finish(real(path));
}

int unlinkat(int at, const char *path, int flags) {
  int (*real)(int, const char *, int) = dlsym(RTLD_NEXT, "unlinkat");
  begin();
  if (!(flags & AT_REMOVEDIR)) record_name('u', inside_at(at, path));
  return finish(real(at, path, flags));
}

static int opened(const char *name, const char *path, int flags, mode_t mode) {
  int (*real)(const char *, int, ...) = dlsym(RTLD_NEXT, name);
  if (!(flags & (O_CREAT | O_TRUNC))) return real(path, flags, mode);
  begin();
  record_name('c', inside(path));
  return finish(real(path, flags, mode));
}

static int opened_at(const char *name, int at, const char *path, int flags, mode_t mode) {
  int (*real)(int, const char *, int, ...) = dlsym(RTLD_NEXT, name);
  if (!(flags & (O_CREAT | O_TRUNC))) return real(at, path, flags, mode);
  begin();
  record_name('c', inside_at(at, path));
  return finish(real(at, path, flags, mode));
}

int openat(int at, const char *path, int flags, ...) {
  va_list list;
  va_start(list, flags);
  mode_t mode = flags & O_CREAT ? va_arg(list, mode_t) : 0;
  va_end(list);
  return opened_at("openat", at, path, flags, mode);
}

int openat64(int at, const char *path, int flags, ...) {
  va_list list;
  va_start(list, flags);
  mode_t mode = flags & O_CREAT ? va_arg(list, mode_t) : 0;
  va_end(list);
  return opened_at("openat64", at, path, flags, mode);
}

int open(const char *path, int flags, ...) {
  va_list list;
  va_start(list, flags);
  mode_t mode = flags & O_CREAT ? va_arg(list, mode_t) : 0;
  va_end(list);
  return opened("open", path, flags, mode);
}

int open64(const char *path, int flags, ...) {
  va_list list;
  va_start(list, flags);
  mode_t mode = flags & O_CREAT ? va_arg(list, mode_t) : 0;
  va_end(list);
  return opened("open64", path, flags, mode);
}
