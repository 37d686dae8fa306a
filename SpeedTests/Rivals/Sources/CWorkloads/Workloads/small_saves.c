#include "workloads.h"

void small_saves(const struct run *run) {
  char title[32];
  open_engine(run, run->count);
  for (size_t index = 0; index < run->count; index++) {
    size_t length = song_title(title, index);
    run->engine->begin();
    run->engine->put_song((uint32_t)index + 1, title, length, (uint32_t)(index % 600));
    run->engine->commit();
  }
  run->engine->close();
}
