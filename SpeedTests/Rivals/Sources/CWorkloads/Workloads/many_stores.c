#include "workloads.h"
#include <stdio.h>
#include <sys/stat.h>

enum { songs_each = 100 };

// Does something with each store, in a directory of its own.
static void with_each(const struct run *run, void body(const struct run *store, size_t number)) {
  struct run store = *run;
  char name[32];
  store.count = songs_each;
  for (size_t number = 0; number < run->count; number++) {
    snprintf(name, sizeof name, "%zu", number);
    char *directory = path_in(run->directory, name);
    mkdir(directory, 0777);
    store.directory = directory;
    body(&store, number);
    free(directory);
  }
}

static void fill(const struct run *store, size_t number) {
  (void)number;
  insert_songs(store);
}

static void change(const struct run *store, size_t number) {
  change_song(store, number % songs_each);
}

void fill_stores(const struct run *run) { with_each(run, fill); }
void many_stores(const struct run *run) { with_each(run, change); }
