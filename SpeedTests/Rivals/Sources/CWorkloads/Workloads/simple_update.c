#include "workloads.h"
#include <stdio.h>
#include <stdlib.h>

static void change(const struct engine *engine, struct song *song) {
  char *old = song->title;
  require(asprintf(&song->title, "%s again", old) > 0, "No memory for a title");
  free(old);
  engine->set_title(song);
}

void simple_update(const struct run *run) {
  open_engine(run, run->count);
  struct song_list list = fetch_songs(run->engine);
  require(list.count == run->count, "%zu songs", list.count);
  run->engine->begin();
  for (size_t index = 0; index < list.count; index += 3) change(run->engine, list.songs[index]);
  run->engine->commit();
  run->engine->close();
}
