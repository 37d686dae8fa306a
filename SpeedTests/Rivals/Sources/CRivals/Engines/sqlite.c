// SQLite as a careful C programmer uses it: WAL, statements prepared once, bound and reset; memory
// mapping and a page cache that holds the data, as its documentation on speed advises.
//
// An entry of a playlist has a position with room before the next, so that a move changes one row.
#include "sqlite.h"
#include "records.h"
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#define GAP 65536
#define LENT SQLITE_STATIC

sqlite3 *database;
static sqlite3_stmt *statements[24];

enum {
  BEGIN, BEGIN_READING, COMMIT, PUT_SONG, SET_TITLE, GET_SONG, EACH_SONG, PUT_PLAYLIST, PUT_ENTRY, GET_PLAYLIST,
  COUNT_ENTRIES, GET_ENTRIES, MOVE, FIRST_TITLES, PUT_BUFFER, GET_BUFFER, TITLED, FROM_TITLE,
  BEHIND, COUNT_BETWEEN,
};

static const char *const texts[] = {
  [BEGIN] = "BEGIN IMMEDIATE",
  [BEGIN_READING] = "BEGIN",
  [COMMIT] = "COMMIT",
  [PUT_SONG] = "INSERT INTO song VALUES (?, ?, ?)",
  [SET_TITLE] = "UPDATE song SET title = ? WHERE id = ?",
  [GET_SONG] = "SELECT title, seconds FROM song WHERE id = ?",
  [EACH_SONG] = "SELECT id, title, seconds FROM song",
  [PUT_PLAYLIST] = "INSERT INTO playlist VALUES (?, ?)",
  [PUT_ENTRY] = "INSERT INTO entry VALUES (?, ?, ?)",
  [GET_PLAYLIST] = "SELECT title FROM playlist WHERE id = ?",
  [COUNT_ENTRIES] = "SELECT count(*) FROM entry WHERE playlist = ?",
  [GET_ENTRIES] = "SELECT song FROM entry WHERE playlist = ? ORDER BY position",
  [MOVE] = "UPDATE entry SET position = ? WHERE playlist = ? AND position = ?",
  [FIRST_TITLES] =
    "SELECT playlist.title, song.title FROM playlist"
    " JOIN entry ON entry.playlist = playlist.id AND entry.position = 0"
    " JOIN song ON song.id = entry.song",
  [PUT_BUFFER] = "INSERT INTO buffer VALUES (?, ?)",
  [GET_BUFFER] = "SELECT bytes FROM buffer WHERE name = ?",
  [TITLED] = "SELECT id, title, seconds FROM song WHERE title = ? LIMIT 1",
  [FROM_TITLE] =
    "SELECT id, title, seconds FROM song WHERE title >= ? ORDER BY title, id LIMIT ?",
  [BEHIND] =
    "SELECT id, title, seconds FROM song WHERE (title, id) > (?, ?) ORDER BY title, id LIMIT ?",
  [COUNT_BETWEEN] = "SELECT count(*) FROM song WHERE title >= ? AND title < ?",
};

static const char *const schema =
  "CREATE TABLE song (id INTEGER PRIMARY KEY, title TEXT NOT NULL, seconds INTEGER NOT NULL);"
  "CREATE TABLE playlist (id INTEGER PRIMARY KEY, title TEXT NOT NULL);"
  "CREATE TABLE entry (playlist INTEGER NOT NULL, position INTEGER NOT NULL,"
  " song INTEGER NOT NULL, PRIMARY KEY (playlist, position)) WITHOUT ROWID;"
  "CREATE TABLE buffer (name TEXT PRIMARY KEY, bytes BLOB NOT NULL) WITHOUT ROWID;";

void succeed(int code) {
  require(code == SQLITE_OK || code == SQLITE_DONE, "SQLite: %s", sqlite3_errmsg(database));
}

void execute(const char *text) {
  succeed(sqlite3_exec(database, text, NULL, NULL, NULL));
}

static sqlite3_stmt *statement(int number) {
  if (!statements[number])
    succeed(sqlite3_prepare_v3(
      database, texts[number], -1, SQLITE_PREPARE_PERSISTENT, &statements[number], NULL));
  return statements[number];
}

// Runs a statement that gives no rows.
static void finish(sqlite3_stmt *made) {
  succeed(sqlite3_step(made));
  sqlite3_reset(made);
}

// Whether there is another row; resets the statement after the last.
bool next(sqlite3_stmt *made) {
  int code = sqlite3_step(made);
  if (code == SQLITE_ROW) return true;
  succeed(code);
  sqlite3_reset(made);
  return false;
}

static const char *text(sqlite3_stmt *made, int column) {
  return (const char *)sqlite3_column_text(made, column);
}

static size_t length(sqlite3_stmt *made, int column) {
  return (size_t)sqlite3_column_bytes(made, column);
}

static void open_database(const char *directory, enum durability durability, size_t expected) {
  (void)expected;
  static const char *const levels[] = {
    [FULL] = "PRAGMA synchronous = FULL", [PROCESS] = "PRAGMA synchronous = NORMAL",
    [NONE] = "PRAGMA synchronous = OFF" };
  char *path = path_in(directory, "Music.sqlite");
  bool is_new = access(path, F_OK) != 0;
  succeed(sqlite3_open_v2(
    path, &database, SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE | SQLITE_OPEN_NOMUTEX, NULL));
  if (is_new) execute("PRAGMA journal_mode = WAL");
  execute(levels[durability]);
  execute("PRAGMA mmap_size = 1073741824");
  execute("PRAGMA cache_size = -65536");
  if (is_new) execute(schema);
  free(path);
}

static void close_database(void) {
  close_text();
  close_records();
  for (size_t index = 0; index < sizeof statements / sizeof *statements; index++) {
    sqlite3_finalize(statements[index]);
    statements[index] = NULL;
  }
  succeed(sqlite3_close(database));
}

static void begin(void) { finish(statement(BEGIN)); }

static void begin_reading(void) { finish(statement(BEGIN_READING)); }

static void commit(void) { finish(statement(COMMIT)); }

static void put_song(uint32_t id, const char *title, size_t size, uint32_t seconds) {
  sqlite3_stmt *made = statement(PUT_SONG);
  sqlite3_bind_int64(made, 1, id);
  sqlite3_bind_text(made, 2, title, (int)size, LENT);
  sqlite3_bind_int64(made, 3, seconds);
  finish(made);
}

static void set_title(const struct song *song) {
  sqlite3_stmt *made = statement(SET_TITLE);
  sqlite3_bind_text(made, 1, song->title, -1, LENT);
  sqlite3_bind_int64(made, 2, song->id);
  finish(made);
}

static struct song *get_song(uint32_t id) {
  sqlite3_stmt *made = statement(GET_SONG);
  sqlite3_bind_int64(made, 1, id);
  if (!next(made)) return NULL;
  struct song *song = make_song(
    id, text(made, 0), length(made, 0), (uint32_t)sqlite3_column_int64(made, 1));
  sqlite3_reset(made);
  return song;
}

static void each_song(song_visitor *visit, void *context) {
  sqlite3_stmt *made = statement(EACH_SONG);
  while (next(made))
    visit(
      (uint32_t)sqlite3_column_int64(made, 0), text(made, 1), length(made, 1),
      (uint32_t)sqlite3_column_int64(made, 2), context);
}

static void put_playlist(const struct playlist *playlist) {
  sqlite3_stmt *made = statement(PUT_PLAYLIST), *entry = statement(PUT_ENTRY);
  sqlite3_bind_int64(made, 1, playlist->id);
  sqlite3_bind_text(made, 2, playlist->title, -1, LENT);
  finish(made);
  for (uint32_t index = 0; index < playlist->count; index++) {
    sqlite3_bind_int64(entry, 1, playlist->id);
    sqlite3_bind_int64(entry, 2, (sqlite3_int64)index * GAP);
    sqlite3_bind_int64(entry, 3, playlist->songs[index]);
    finish(entry);
  }
}

static void get_entries(struct playlist *playlist) {
  sqlite3_stmt *count = statement(COUNT_ENTRIES), *made = statement(GET_ENTRIES);
  sqlite3_bind_int64(count, 1, playlist->id);
  require(next(count), "No count");
  playlist->count = (uint32_t)sqlite3_column_int64(count, 0);
  sqlite3_reset(count);
  playlist->songs = allocate(4 * (size_t)playlist->count);
  sqlite3_bind_int64(made, 1, playlist->id);
  for (uint32_t index = 0; next(made); index++)
    playlist->songs[index] = (uint32_t)sqlite3_column_int64(made, 0);
}

static struct playlist *get_playlist(uint32_t id) {
  sqlite3_stmt *made = statement(GET_PLAYLIST);
  sqlite3_bind_int64(made, 1, id);
  if (!next(made)) return NULL;
  struct playlist *playlist = allocate(sizeof *playlist);
  playlist->id = id;
  playlist->title = copy_string(text(made, 0), length(made, 0));
  sqlite3_reset(made);
  get_entries(playlist);
  return playlist;
}

// The workload moves one entry once: its neighbours are where they were put.
static void move(struct playlist *playlist, uint32_t from, uint32_t to) {
  sqlite3_int64 room = from < to ? GAP / 2 : -GAP / 2;
  sqlite3_stmt *made = statement(MOVE);
  move_in_memory(playlist, from, to);
  sqlite3_bind_int64(made, 1, (sqlite3_int64)to * GAP + room);
  sqlite3_bind_int64(made, 2, playlist->id);
  sqlite3_bind_int64(made, 3, (sqlite3_int64)from * GAP);
  finish(made);
}

static void first_titles(title_visitor *visit, void *context) {
  sqlite3_stmt *made = statement(FIRST_TITLES);
  while (next(made))
    visit(text(made, 0), length(made, 0), text(made, 1), length(made, 1), context);
}

static void put_buffer(const char *name, uint32_t value) {
  sqlite3_stmt *made = statement(PUT_BUFFER);
  sqlite3_bind_text(made, 1, name, -1, LENT);
  sqlite3_bind_blob(made, 2, &value, 4, LENT);
  finish(made);
}

static uint32_t get_buffer(const char *name) {
  sqlite3_stmt *made = statement(GET_BUFFER);
  sqlite3_bind_text(made, 1, name, -1, LENT);
  require(next(made) && length(made, 0) == 4, "No buffer %s", name);
  uint32_t value = packed_number(sqlite3_column_blob(made, 0));
  sqlite3_reset(made);
  return value;
}

static void make_index(void) { execute("CREATE INDEX song_by_title ON song (title)"); }

static struct song *found_song(sqlite3_stmt *made) {
  return make_song(
    (uint32_t)sqlite3_column_int64(made, 0), text(made, 1), length(made, 1),
    (uint32_t)sqlite3_column_int64(made, 2));
}

static size_t found_songs(sqlite3_stmt *made, struct song **songs) {
  size_t count = 0;
  while (next(made)) songs[count++] = found_song(made);
  return count;
}

static struct song *titled(const char *title) {
  sqlite3_stmt *made = statement(TITLED);
  sqlite3_bind_text(made, 1, title, -1, LENT);
  if (!next(made)) return NULL;
  struct song *song = found_song(made);
  sqlite3_reset(made);
  return song;
}

static size_t from_title(const char *title, size_t limit, struct song **songs) {
  sqlite3_stmt *made = statement(FROM_TITLE);
  sqlite3_bind_text(made, 1, title, -1, LENT);
  sqlite3_bind_int64(made, 2, (sqlite3_int64)limit);
  return found_songs(made, songs);
}

static size_t behind(const struct song *song, size_t limit, struct song **songs) {
  sqlite3_stmt *made = statement(BEHIND);
  sqlite3_bind_text(made, 1, song->title, -1, LENT);
  sqlite3_bind_int64(made, 2, song->id);
  sqlite3_bind_int64(made, 3, (sqlite3_int64)limit);
  return found_songs(made, songs);
}

static size_t count_between(const char *title, const char *end) {
  sqlite3_stmt *made = statement(COUNT_BETWEEN);
  sqlite3_bind_text(made, 1, title, -1, LENT);
  sqlite3_bind_text(made, 2, end, -1, LENT);
  require(next(made), "No count");
  size_t count = (size_t)sqlite3_column_int64(made, 0);
  sqlite3_reset(made);
  return count;
}

static const struct finder finder = { make_index, titled, from_title, behind, count_between };

const struct engine sqlite_engine = {
  "sqlite-c", open_database, close_database, begin, commit, begin_reading, commit, put_song, set_title, get_song,
  each_song, put_playlist, get_playlist, move, first_titles, put_buffer, get_buffer,
  &finder, build_text, search_text, &sqlite_records,
};
