// One step of the comparison with libcdb: cdb-rival cdb STEP FILE COUNT
// It prints the milliseconds that the step took. The same is in SpeedTests/Workloads/ConstantDatabase.swift.
#include <cdb.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

enum { key_size = 8, value_size = 30 };

static void require(int condition, const char *what) {
  if (condition) return;
  fprintf(stderr, "cdb-rival: %s failed\n", what);
  exit(1);
}

static double now(void) {
  struct timespec time;
  clock_gettime(CLOCK_MONOTONIC, &time);
  return (double)time.tv_sec * 1e3 + (double)time.tv_nsec / 1e6;
}

// Keys have no order, so that look-ups one after the other go all over the file.
static uint64_t key_number(uint32_t index) { return (index + 1) * 0x9E3779B97F4A7C15u; }

static void write_file(const char *path, uint32_t count) {
  char temporary[4096];
  unsigned char value[value_size];
  struct cdb_make make;
  snprintf(temporary, sizeof temporary, "%s.tmp", path);
  int file = open(temporary, O_RDWR | O_CREAT | O_EXCL, 0666);
  require(file >= 0 && cdb_make_start(&make, file) == 0, "making the file");
  memset(value, 7, sizeof value);
  for (uint32_t index = 0; index < count; index++) {
    uint64_t key = key_number(index);
    memcpy(value, &index, sizeof index);
    require(cdb_make_add(&make, &key, key_size, value, value_size) == 0, "adding");
  }
  require(cdb_make_finish(&make) == 0 && close(file) == 0, "finishing");
  require(rename(temporary, path) == 0, "renaming");
}

static uint64_t find_all(struct cdb *database, uint32_t count) {
  uint64_t sum = 0;
  uint32_t index = 1;
  for (uint32_t done = 0; done < count; done++) {
    index = index * 1664525u + 1013904223u;
    uint64_t key = key_number((uint32_t)((uint64_t)index * count >> 32));
    require(cdb_find(database, &key, key_size) == 1, "finding");
    const unsigned char *value = cdb_getdata(database);
    sum += value[4] + cdb_datalen(database);
  }
  return sum;
}

static uint64_t scan(struct cdb *database) {
  uint64_t sum = 0;
  unsigned position;
  cdb_seqinit(&position, database);
  while (cdb_seqnext(&position, database) > 0) {
    const unsigned char *key = cdb_getkey(database), *value = cdb_getdata(database);
    sum += (key[0] & 0) + value[4] + cdb_datalen(database);
  }
  return sum;
}

static void read_file(const char *step, const char *path, uint32_t count) {
  struct cdb database;
  int file = open(path, O_RDONLY);
  require(file >= 0 && cdb_init(&database, file) == 0, "opening");
  uint64_t sum = strcmp(step, "find") == 0 ? find_all(&database, count) : scan(&database);
  require(sum == (uint64_t)count * (7 + value_size), "reading");
  cdb_free(&database);
  close(file);
}

int main(int count, char **words) {
  require(count == 5 && strcmp(words[1], "cdb") == 0, "the command line");
  uint32_t records = (uint32_t)strtoul(words[4], NULL, 10);
  double start = now();
  if (strcmp(words[2], "write") == 0) write_file(words[3], records);
  else read_file(words[2], words[3], records);
  printf("%.4f\n", now() - start);
  return 0;
}
