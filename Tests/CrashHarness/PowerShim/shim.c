// Records what a process has on its disk at each moment at which it matters: before every sync, rename,
// removal and creation of a file in one directory.
//
// Preloaded (LD_PRELOAD) into a process that works on the directory POWER_DIR. Each record goes to the
// file POWER_TRACE:
//
//     kind (1 byte) | inode (8) | text length (4) | text | count of files (4)
//     and for each file: inode (8) | name length (4) | name | size (8) | content
//
// Kinds: 's' sync of a file, 'd' sync of the directory, 'r' rename (text: old NUL new), 'u' unlink,
// 'c' an open that may create or empty a file, 'w' a write that is durable when it returns (text: offset
// (8) and what is written). The record of a call stands before the call; a call that
// fails is followed by nothing, which is as if a power cut came first.
#define _GNU_SOURCE
#include <dirent.h>
#include <dlfcn.h>
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

static void record(char kind, uint64_t inode, const char *bytes, size_t size) {
  if (!trace) return;
  pthread_mutex_lock(&lock);
  fputc(kind, trace);
  number(inode, 8);
  text(bytes, size);
  snapshot();
  fflush(trace);
  pthread_mutex_unlock(&lock);
}

static const char *inside(const char *path) {
  size_t length = strlen(folder);
  if (!trace || strncmp(path, folder, length) || path[length] != '/') return NULL;
  return path + length + 1;
}

static void record_sync(int file) {
  struct stat status, mine;
  if (!trace || fstat(file, &status) || stat(folder, &mine)) return;
  record(status.st_ino == mine.st_ino ? 'd' : 's', status.st_ino, "", 0);
}

int fsync(int file) {
  int (*real)(int) = dlsym(RTLD_NEXT, "fsync");
  record_sync(file);
  return real(file);
}

int fdatasync(int file) {
  int (*real)(int) = dlsym(RTLD_NEXT, "fdatasync");
  record_sync(file);
  return real(file);
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
  record_write(file, bytes, size, offset);
  return real(file, bytes, size, offset);
}

ssize_t pwrite64(int file, const void *bytes, size_t size, off64_t offset) {
  ssize_t (*real)(int, const void *, size_t, off64_t) = dlsym(RTLD_NEXT, "pwrite64");
  record_write(file, bytes, size, offset);
  return real(file, bytes, size, offset);
}

int rename(const char *old, const char *new) {
  int (*real)(const char *, const char *) = dlsym(RTLD_NEXT, "rename");
  if (inside(old) && inside(new)) {
    char names[8192];
    int first = snprintf(names, 4096, "%s", inside(old)) + 1;
    int second = snprintf(names + first, 4096, "%s", inside(new));
    record('r', 0, names, first + second);
  }
  return real(old, new);
}

int unlink(const char *path) {
  int (*real)(const char *) = dlsym(RTLD_NEXT, "unlink");
  if (inside(path)) record('u', 0, inside(path), strlen(inside(path)));
  return real(path);
}

static int opened(const char *name, const char *path, int flags, mode_t mode) {
  int (*real)(const char *, int, ...) = dlsym(RTLD_NEXT, name);
  if (flags & (O_CREAT | O_TRUNC) && inside(path))
    record('c', 0, inside(path), strlen(inside(path)));
  return real(path, flags, mode);
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
