#include "workloads.h"
#include <stdlib.h>

struct titles {
  struct pair {
    char *playlist, *song;
  } *pairs;
  size_t count, room;
};

static void keep(
  const char *playlist, size_t playlist_length, const char *song, size_t song_length,
  void *context) {
  struct titles *titles = context;
  require(titles->count < titles->room, "More than %zu playlists", titles->room);
  titles->pairs[titles->count++] = (struct pair){
    copy_string(playlist, playlist_length), copy_string(song, song_length) };
}

void complex_fetch(const struct run *run) {
  struct titles titles = { allocate(run->count / 100 * sizeof(struct pair)), 0, run->count / 100 };
  open_engine(run, run->count);
  run->engine->begin_reading();
  run->engine->first_titles(keep, &titles);
  run->engine->end_reading();
  require(titles.count == run->count / 100, "%zu titles", titles.count);
  run->engine->close();
}
