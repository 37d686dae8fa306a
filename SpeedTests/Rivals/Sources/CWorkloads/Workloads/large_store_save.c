#include "workloads.h"

void change_song(const struct run *run, size_t index) {
  open_engine(run, run->count);
  run->engine->begin_reading();
  struct song *song = fetch_song(run->engine, index);
  run->engine->end_reading();
  rename_song(song, "%s again", song->title);
  run->engine->begin();
  run->engine->set_title(song);
  run->engine->commit();
  run->engine->close();
  free_song(song);
}

void large_store_save(const struct run *run) { change_song(run, run->count / 2); }
