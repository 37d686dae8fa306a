// Tokyo Cabinet itself, as the system has it: a hash file for each class, tuned by its
// documentation (buckets for the number of records, small alignment, all of the file mapped).
//
// A commit syncs the files that were written to. That is durable, but a crash in between may tear
// them; the library's own transactions, which prevent it, take several syncs each and far longer.
#include "engines.h"
#include "records.h"
#include <stdlib.h>
#include <tchdb.h>

enum { SONGS, PLAYLISTS, BUFFERS, FILES };

static const char *const names[FILES] = { "Songs.tch", "Playlists.tch", "Buffers.tch" };
static TCHDB *files[FILES];
static bool is_changed[FILES];
static bool has_to_sync;

static void succeed(int file, bool done) {
  require(done, "%s: %s", names[file], tchdberrmsg(tchdbecode(files[file])));
}

static void open_files(const char *directory, enum durability durability, size_t expected) {
  has_to_sync = durability == FULL;
  for (int file = 0; file < FILES; file++) {
    char *path = path_in(directory, names[file]);
    files[file] = tchdbnew();
    succeed(file, tchdbtune(files[file], (int64_t)expected / 2, 2, -1, 0));
    succeed(file, tchdbsetxmsiz(files[file], INT64_C(1) << 31));
    succeed(file, tchdbopen(files[file], path, HDBOWRITER | HDBOCREAT));
    free(path);
  }
}

static void close_files(void) {
  for (int file = 0; file < FILES; file++) {
    succeed(file, tchdbclose(files[file]));
    tchdbdel(files[file]);
  }
}

static void begin(void) {}

static void commit(void) {
  for (int file = 0; file < FILES; file++) {
    if (is_changed[file] && has_to_sync) succeed(file, tchdbsync(files[file]));
    is_changed[file] = false;
  }
}

static void put(int file, const void *key, size_t key_size, const void *bytes, size_t size) {
  is_changed[file] = true;
  succeed(file, tchdbput(files[file], key, (int)key_size, bytes, (int)size));
}

static void put_song(uint32_t id, const char *title, size_t length, uint32_t seconds) {
  char bytes[64];
  put(SONGS, &id, 4, bytes, pack_song(bytes, title, length, seconds));
}

static void set_title(const struct song *song) {
  put_song(song->id, song->title, strlen(song->title), song->seconds);
}

static struct song *get_song(uint32_t id) {
  char bytes[64];
  int size = tchdbget3(files[SONGS], &id, 4, bytes, sizeof bytes);
  return size < 4 ? NULL : unpack_song(id, bytes, (size_t)size);
}

struct visit {
  song_visitor *visit;
  title_visitor *visit_title;
  void *context;
};

static bool pass_song(
  const void *key, int key_size, const void *bytes, int size, void *opaque) {
  struct visit *visit = opaque;
  require(key_size == 4 && size >= 4, "A record of %d bytes", size);
  visit->visit(
    packed_number(key), (const char *)bytes + 4, (size_t)size - 4, packed_number(bytes),
    visit->context);
  return true;
}

static void each_song(song_visitor *visit, void *context) {
  struct visit passed = { .visit = visit, .context = context };
  succeed(SONGS, tchdbforeach(files[SONGS], pass_song, &passed));
}

static void put_playlist(const struct playlist *playlist) {
  size_t size = playlist_size(playlist);
  char *bytes = allocate(size);
  pack_playlist(bytes, playlist);
  put(PLAYLISTS, &playlist->id, 4, bytes, size);
  free(bytes);
}

static struct playlist *get_playlist(uint32_t id) {
  int size;
  char *bytes = tchdbget(files[PLAYLISTS], &id, 4, &size);
  if (!bytes) return NULL;
  struct playlist *playlist = unpack_playlist(id, bytes, (size_t)size);
  free(bytes);
  return playlist;
}

static void move(struct playlist *playlist, uint32_t from, uint32_t to) {
  move_in_memory(playlist, from, to);
  put_playlist(playlist);
}

static bool pass_title(
  const void *key, int key_size, const void *bytes, int size, void *opaque) {
  (void)key, (void)key_size;
  struct visit *visit = opaque;
  size_t list = 4 * (size_t)packed_number(bytes);
  uint32_t first = packed_number((const char *)bytes + 4);
  char song[64];
  int song_size = tchdbget3(files[SONGS], &first, 4, song, sizeof song);
  require(song_size >= 4, "Song %u is missing", first);
  visit->visit_title(
    (const char *)bytes + 4 + list, (size_t)size - 4 - list, song + 4, (size_t)song_size - 4,
    visit->context);
  return true;
}

static void first_titles(title_visitor *visit, void *context) {
  struct visit passed = { .visit_title = visit, .context = context };
  succeed(PLAYLISTS, tchdbforeach(files[PLAYLISTS], pass_title, &passed));
}

static void put_buffer(const char *name, uint32_t value) {
  put(BUFFERS, name, strlen(name), &value, 4);
}

static uint32_t get_buffer(const char *name) {
  uint32_t value;
  require(
    tchdbget3(files[BUFFERS], name, (int)strlen(name), &value, 4) == 4, "No buffer %s", name);
  return value;
}

const struct engine tokyo_engine = {
  "tokyo-cabinet-c", open_files, close_files, begin, commit, begin, begin, put_song, set_title, get_song,
  each_song, put_playlist, get_playlist, move, first_titles, put_buffer, get_buffer,
  NULL, NULL, NULL, NULL,
};
