#include "workloads.h"

void insert_long_list(const struct run *run) { insert_playlists(run, (uint32_t)run->count); }

void list_edit(const struct run *run) {
  uint32_t count = (uint32_t)run->count;
  open_engine(run, run->count);
  run->engine->begin_reading();
  struct playlist *playlist = run->engine->get_playlist(1);
  run->engine->end_reading();
  require(playlist && playlist->count == count, "Not %u songs", count);
  run->engine->begin();
  run->engine->move(playlist, count - 1, count / 2);
  run->engine->commit();
  run->engine->close();
}
