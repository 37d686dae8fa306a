#include "workloads.h"

void simple_update(const struct run *run) {
  open_engine(run, run->count);
  struct song_list list = fetch_songs(run->engine);
  require(list.count == run->count, "%zu songs", list.count);
  run->engine->begin();
  for (size_t index = 0; index < list.count; index += 3) {
    rename_song(list.songs[index], "%s again", list.songs[index]->title);
    run->engine->set_title(list.songs[index]);
  }
  run->engine->commit();
  run->engine->close();
}
