#include "workloads.h"

enum { songs_each = 100 };

static void fetch(const struct run *run, uint64_t *state, struct song *songs[songs_each]) {
  run->engine->begin_reading();
  for (size_t place = 0; place < songs_each; place++)
    songs[place] = fetch_song(run->engine, next_random(state, run->count));
  run->engine->end_reading();
}

static void save(const struct run *run, size_t number, struct song *songs[songs_each]) {
  run->engine->begin();
  for (size_t place = 0; place < songs_each; place++) {
    rename_song(songs[place], "A song of save %zu", number);
    run->engine->set_title(songs[place]);
  }
  run->engine->commit();
}

void change_songs(const struct run *run) {
  struct song *songs[songs_each];
  uint64_t state = first_random;
  for (size_t number = 0; number < run->operations; number++) {
    fetch(run, &state, songs);
    begin_latency(run);
    save(run, number, songs);
    end_latency();
    for (size_t place = 0; place < songs_each; place++) free_song(songs[place]);
  }
}

void sustained_saves(const struct run *run) {
  open_engine(run, run->count);
  change_songs(run);
  run->engine->close();
}
