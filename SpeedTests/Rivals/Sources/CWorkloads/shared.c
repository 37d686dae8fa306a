#include "rivals.h"
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

void require(bool condition, const char *format, ...) {
  if (condition) return;
  va_list arguments;
  va_start(arguments, format);
  vfprintf(stderr, format, arguments);
  va_end(arguments);
  fputc('\n', stderr);
  exit(1);
}

void *allocate(size_t size) {
  void *memory = malloc(size);
  require(memory || size == 0, "No memory for %zu bytes", size);
  return memory;
}

char *copy_string(const char *bytes, size_t length) {
  char *copy = allocate(length + 1);
  memcpy(copy, bytes, length);
  copy[length] = 0;
  return copy;
}

struct song *make_song(uint32_t id, const char *title, size_t length, uint32_t seconds) {
  struct song *song = allocate(sizeof *song);
  *song = (struct song){ id, seconds, copy_string(title, length) };
  return song;
}

void rename_song(struct song *song, const char *format, ...) {
  char *old = song->title;
  va_list arguments;
  va_start(arguments, format);
  require(vasprintf(&song->title, format, arguments) > 0, "No memory for a title");
  va_end(arguments);
  free(old);
}

char *path_in(const char *directory, const char *name) {
  char *path;
  require(asprintf(&path, "%s/%s", directory, name) > 0, "No memory for a path");
  return path;
}

void open_engine(const struct run *run, size_t expected) {
  run->engine->open(run->directory, run->durability, expected);
}

size_t song_title(char title[32], size_t index) {
  return (size_t)snprintf(title, 32, "Song %zu", index);
}

void put_songs(const struct run *run) {
  char title[32];
  for (size_t index = 0; index < run->count; index++) {
    size_t length = song_title(title, index);
    run->engine->put_song((uint32_t)index + 1, title, length, (uint32_t)(index % 600));
  }
}

void insert_songs(const struct run *run) {
  open_engine(run, run->count);
  run->engine->begin();
  put_songs(run);
  run->engine->commit();
  run->engine->close();
}

static void put_playlists(const struct run *run, uint32_t length) {
  struct playlist playlist = { .count = length, .songs = allocate(4 * (size_t)length) };
  char title[32];
  playlist.title = title;
  for (size_t index = 0; index < run->count / length; index++) {
    playlist.id = (uint32_t)index + 1;
    snprintf(title, sizeof title, "Playlist %zu", index);
    for (size_t place = 0; place < length; place++)
      playlist.songs[place] = (uint32_t)((place * 977 + index * length) % run->count) + 1;
    run->engine->put_playlist(&playlist);
  }
  free(playlist.songs);
}

void insert_playlists(const struct run *run, uint32_t length) {
  open_engine(run, run->count);
  run->engine->begin();
  put_songs(run);
  put_playlists(run, length);
  run->engine->commit();
  run->engine->close();
}

size_t next_random(uint64_t *state, size_t count) {
  *state ^= *state << 13;
  *state ^= *state >> 7;
  *state ^= *state << 17;
  return *state % count;
}

struct song *fetch_song(const struct engine *engine, size_t index) {
  struct song *song = engine->get_song((uint32_t)index + 1);
  require(song && song->seconds == index % 600, "Song %zu is another", index);
  return song;
}

void look_up(const struct engine *engine, size_t index) { free_song(fetch_song(engine, index)); }

double now(void) {
  struct timespec time;
  clock_gettime(CLOCK_MONOTONIC, &time);
  return (double)time.tv_sec * 1e3 + (double)time.tv_nsec / 1e6;
}
