// How songs and playlists become bytes in the engines that know bytes only.
#pragma once
#include "rivals.h"
#include <string.h>

// The seconds, then the title to the end of the record.
static inline size_t pack_song(
  char bytes[64], const char *title, size_t length, uint32_t seconds) {
  require(length <= 60, "A title has %zu bytes", length);
  memcpy(bytes, &seconds, 4);
  memcpy(bytes + 4, title, length);
  return length + 4;
}

static inline uint32_t packed_number(const void *bytes) {
  uint32_t number;
  memcpy(&number, bytes, 4);
  return number;
}

static inline struct song *unpack_song(uint32_t id, const char *bytes, size_t size) {
  return make_song(id, bytes + 4, size - 4, packed_number(bytes));
}

// The number of songs, the songs, then the title to the end of the record.
static inline size_t playlist_size(const struct playlist *playlist) {
  return 4 + 4 * (size_t)playlist->count + strlen(playlist->title);
}

static inline void pack_playlist(char *bytes, const struct playlist *playlist) {
  size_t list = 4 * (size_t)playlist->count;
  memcpy(bytes, &playlist->count, 4);
  memcpy(bytes + 4, playlist->songs, list);
  memcpy(bytes + 4 + list, playlist->title, strlen(playlist->title));
}

static inline struct playlist *unpack_playlist(uint32_t id, const char *bytes, size_t size) {
  struct playlist *playlist = allocate(sizeof *playlist);
  size_t list = 4 * (size_t)packed_number(bytes);
  playlist->id = id;
  playlist->count = packed_number(bytes);
  playlist->songs = allocate(list);
  memcpy(playlist->songs, bytes + 4, list);
  playlist->title = copy_string(bytes + 4 + list, size - 4 - list);
  return playlist;
}

static inline void move_in_memory(struct playlist *playlist, uint32_t from, uint32_t to) {
  uint32_t song = playlist->songs[from], *songs = playlist->songs;
  if (from < to)
    memmove(songs + from, songs + from + 1, 4 * (size_t)(to - from));
  else
    memmove(songs + to + 1, songs + to, 4 * (size_t)(from - to));
  songs[to] = song;
}
