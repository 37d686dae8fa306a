// LMDB by its documentation: integer keys, appended where they come in order; everything that is
// written between begin and commit is one transaction.
#include "engines.h"
#include "records.h"
#include <lmdb.h>
#include <stdlib.h>

enum { SONGS, PLAYLISTS, BUFFERS, TABLES };

static MDB_env *environment;
static MDB_txn *writing, *reading;
static MDB_dbi tables[TABLES];

static void succeed(int code) { require(code == MDB_SUCCESS, "LMDB: %s", mdb_strerror(code)); }

static void open_tables(void) {
  MDB_txn *transaction;
  succeed(mdb_txn_begin(environment, NULL, 0, &transaction));
  succeed(mdb_dbi_open(transaction, "songs", MDB_CREATE | MDB_INTEGERKEY, &tables[SONGS]));
  succeed(mdb_dbi_open(transaction, "playlists", MDB_CREATE | MDB_INTEGERKEY, &tables[PLAYLISTS]));
  succeed(mdb_dbi_open(transaction, "buffers", MDB_CREATE, &tables[BUFFERS]));
  succeed(mdb_txn_commit(transaction));
}

static void open_environment(const char *directory, enum durability durability, size_t expected) {
  (void)expected;
  succeed(mdb_env_create(&environment));
  succeed(mdb_env_set_mapsize(environment, (size_t)8 << 30));
  succeed(mdb_env_set_maxdbs(environment, TABLES));
  succeed(mdb_env_open(environment, directory, durability == FULL ? 0 : MDB_NOSYNC, 0666));
  open_tables();
}

static void close_environment(void) {
  if (reading) mdb_txn_abort(reading);
  reading = NULL;
  mdb_env_close(environment);
}

static void begin(void) { succeed(mdb_txn_begin(environment, NULL, 0, &writing)); }

static void commit(void) {
  succeed(mdb_txn_commit(writing));
  writing = NULL;
}

// To renew a transaction costs less than to begin one.
static void begin_reading(void) {
  if (reading) succeed(mdb_txn_renew(reading));
  else succeed(mdb_txn_begin(environment, NULL, MDB_RDONLY, &reading));
}

static void end_reading(void) { mdb_txn_reset(reading); }

static void put(int table, const void *key, size_t key_size, const void *bytes, size_t size) {
  MDB_val name = { key_size, (void *)key }, value = { size, (void *)bytes };
  succeed(mdb_put(writing, tables[table], &name, &value, 0));
}

static MDB_val get(int table, const void *key, size_t key_size) {
  MDB_val name = { key_size, (void *)key }, value = { 0, NULL };
  int code = mdb_get(reading, tables[table], &name, &value);
  if (code != MDB_NOTFOUND) succeed(code);
  return value;
}

// A new song has a higher number than those before it.
static void put_song(uint32_t id, const char *title, size_t length, uint32_t seconds) {
  char bytes[64];
  MDB_val key = { 4, &id };
  MDB_val value = { pack_song(bytes, title, length, seconds), bytes };
  succeed(mdb_put(writing, tables[SONGS], &key, &value, MDB_APPEND));
}

static void set_title(const struct song *song) {
  char bytes[64];
  size_t size = pack_song(bytes, song->title, strlen(song->title), song->seconds);
  put(SONGS, &song->id, 4, bytes, size);
}

static struct song *get_song(uint32_t id) {
  MDB_val found = get(SONGS, &id, 4);
  return found.mv_data ? unpack_song(id, found.mv_data, found.mv_size) : NULL;
}

static void each_song(song_visitor *visit, void *context) {
  MDB_cursor *cursor;
  MDB_val key, value;
  succeed(mdb_cursor_open(reading, tables[SONGS], &cursor));
  while (mdb_cursor_get(cursor, &key, &value, MDB_NEXT) == MDB_SUCCESS)
    visit(
      packed_number(key.mv_data), (const char *)value.mv_data + 4, value.mv_size - 4,
      packed_number(value.mv_data), context);
  mdb_cursor_close(cursor);
}

static void put_playlist(const struct playlist *playlist) {
  MDB_val key = { 4, (void *)&playlist->id }, value = { playlist_size(playlist), NULL };
  succeed(mdb_put(writing, tables[PLAYLISTS], &key, &value, MDB_RESERVE));
  pack_playlist(value.mv_data, playlist);
}

static struct playlist *get_playlist(uint32_t id) {
  MDB_val found = get(PLAYLISTS, &id, 4);
  return found.mv_data ? unpack_playlist(id, found.mv_data, found.mv_size) : NULL;
}

static void move(struct playlist *playlist, uint32_t from, uint32_t to) {
  move_in_memory(playlist, from, to);
  put_playlist(playlist);
}

static void first_titles(title_visitor *visit, void *context) {
  MDB_cursor *cursor;
  MDB_val key, value;
  succeed(mdb_cursor_open(reading, tables[PLAYLISTS], &cursor));
  while (mdb_cursor_get(cursor, &key, &value, MDB_NEXT) == MDB_SUCCESS) {
    const char *bytes = value.mv_data;
    size_t list = 4 * (size_t)packed_number(bytes);
    MDB_val song = get(SONGS, bytes + 4, 4);
    require(song.mv_size >= 4, "A song is missing");
    visit(
      bytes + 4 + list, value.mv_size - 4 - list, (const char *)song.mv_data + 4,
      song.mv_size - 4, context);
  }
  mdb_cursor_close(cursor);
}

static void put_buffer(const char *name, uint32_t value) {
  put(BUFFERS, name, strlen(name), &value, 4);
}

static uint32_t get_buffer(const char *name) {
  MDB_val found = get(BUFFERS, name, strlen(name));
  require(found.mv_size == 4, "No buffer %s", name);
  return packed_number(found.mv_data);
}

// Records are in the table of the buffers, which has the same kind of keys.
static void make_records(void) {}

static void add_record(const char *key, const void *bytes, size_t size) {
  put(BUFFERS, key, strlen(key), bytes, size);
}

static void put_record(const char *key, const void *bytes, size_t size) {
  begin();
  add_record(key, bytes, size);
  commit();
}

static bool get_record(const char *key, void *bytes, size_t size) {
  begin_reading();
  MDB_val found = get(BUFFERS, key, strlen(key));
  if (found.mv_size == size) memcpy(bytes, found.mv_data, size);
  end_reading();
  return found.mv_size == size;
}

static size_t scan_records(const char *key, size_t limit, void *bytes, size_t size) {
  MDB_cursor *cursor;
  MDB_val name = { strlen(key), (void *)key }, value;
  size_t count = 0;
  begin_reading();
  succeed(mdb_cursor_open(reading, tables[BUFFERS], &cursor));
  for (MDB_cursor_op to = MDB_SET_RANGE; count < limit; count++, to = MDB_NEXT) {
    if (mdb_cursor_get(cursor, &name, &value, to) != MDB_SUCCESS) break;
    require(value.mv_size == size, "A record of %zu bytes", value.mv_size);
    memcpy((char *)bytes + count * size, value.mv_data, size);
  }
  mdb_cursor_close(cursor);
  end_reading();
  return count;
}

static const struct record_table records = {
  make_records, add_record, put_record, get_record, scan_records,
};

const struct engine lmdb_engine = {
  "lmdb-c", open_environment, close_environment, begin, commit, begin_reading, end_reading, put_song, set_title, get_song,
  each_song, put_playlist, get_playlist, move, first_titles, put_buffer, get_buffer,
  NULL, NULL, NULL, &records,
};
