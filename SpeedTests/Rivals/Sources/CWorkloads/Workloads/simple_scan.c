#include "workloads.h"

static void look(
  uint32_t id, const char *title, size_t length, uint32_t seconds, void *context) {
  struct song *song = make_song(id, title, length, seconds);
  *(size_t *)context += song->seconds;
  free_song(song);
}

void scan_songs(const struct run *run) {
  size_t seconds = 0, expected = 0;
  run->engine->begin_reading();
  run->engine->each_song(look, &seconds);
  run->engine->end_reading();
  for (size_t index = 0; index < run->count; index++) expected += index % 600;
  require(seconds == expected, "%zu seconds", seconds);
}

void simple_scan(const struct run *run) {
  open_engine(run, run->count);
  scan_songs(run);
  run->engine->close();
}
