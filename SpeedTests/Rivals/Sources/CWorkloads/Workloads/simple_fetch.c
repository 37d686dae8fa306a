#include "workloads.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void keep(
  uint32_t id, const char *title, size_t length, uint32_t seconds, void *context) {
  struct song_list *list = context;
  if ((list->count & (list->count - 1)) == 0) {
    size_t room = list->count ? list->count * 2 : 1;
    list->songs = realloc(list->songs, room * sizeof *list->songs);
    require(list->songs != NULL, "No memory for %zu songs", room);
  }
  list->songs[list->count++] = make_song(id, title, length, seconds);
}

struct song_list fetch_songs(const struct engine *engine) {
  struct song_list list = { NULL, 0 };
  engine->begin_reading();
  engine->each_song(keep, &list);
  engine->end_reading();
  return list;
}

// Engines have orders of their own.
static void expect_song(const struct song *song) {
  char title[32];
  song_title(title, song->id - 1);
  require(strcmp(song->title, title) == 0, "A song is called %s", song->title);
}

void simple_fetch(const struct run *run) {
  open_engine(run, run->count);
  struct song_list list = fetch_songs(run->engine);
  require(list.count == run->count, "%zu songs", list.count);
  expect_song(list.songs[list.count - 1]);
  run->engine->close();
}
