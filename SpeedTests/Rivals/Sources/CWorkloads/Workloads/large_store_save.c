#include "workloads.h"
#include <stdio.h>
#include <stdlib.h>

void large_store_save(const struct run *run) {
  open_engine(run, run->count);
  run->engine->begin_reading();
  struct song *song = run->engine->get_song((uint32_t)(run->count / 2 + 1));
  run->engine->end_reading();
  require(song && song->seconds == run->count / 2 % 600, "It is another song");
  char *old = song->title;
  require(asprintf(&song->title, "%s again", old) > 0, "No memory for a title");
  free(old);
  run->engine->begin();
  run->engine->set_title(song);
  run->engine->commit();
  run->engine->close();
}
