// Full-text search by FTS5: three letters each, or words; without a second copy of the texts.
#include "sqlite.h"
#include <stdio.h>
#include <stdlib.h>

// Ranked inside, so that only the songs that are returned are looked up.
#define BEST(table) \
  "SELECT id, title, seconds FROM (SELECT rowid AS found, rank AS score FROM " table \
  " WHERE " table " MATCH ? ORDER BY rank LIMIT 20) CROSS JOIN song ON id = found ORDER BY score"

static const char *const searches[] = {
  [ALL_PARTS] =
    "SELECT id, song.title, seconds FROM part CROSS JOIN song ON id = part.rowid"
    " WHERE part MATCH ?",
  [BEST_PARTS] = BEST("part"),
  [BEST_WORDS] = BEST("word"),
};

void build_text(enum text_kind kind) {
  bool is_words = kind == BEST_WORDS;
  execute("BEGIN IMMEDIATE");
  execute(
    is_words ? "CREATE VIRTUAL TABLE word USING fts5(title, content='', tokenize=unicode61)"
             : "CREATE VIRTUAL TABLE part USING fts5(title, content='', tokenize=trigram)");
  execute(
    is_words ? "INSERT INTO word (rowid, title) SELECT id, title FROM song"
             : "INSERT INTO part (rowid, title) SELECT id, title FROM song");
  execute("COMMIT");
}

static sqlite3_stmt *made;

void close_text(void) {
  sqlite3_finalize(made);
  made = NULL;
}

size_t search_text(enum text_kind kind, const char *text, bool goes_on) {
  char wanted[64];
  if (!made)
    succeed(sqlite3_prepare_v3(
      database, searches[kind], -1, SQLITE_PREPARE_PERSISTENT, &made, NULL));
  snprintf(wanted, sizeof wanted, goes_on ? "\"%s\"*" : "\"%s\"", text);
  sqlite3_bind_text(made, 1, wanted, -1, SQLITE_STATIC);
  struct song **songs = NULL;
  size_t count = 0;
  while (next(made)) {
    if ((count & (count - 1)) == 0) {
      songs = realloc(songs, (count ? count * 2 : 1) * sizeof *songs);
      require(songs != NULL, "No memory for %zu songs", count);
    }
    songs[count++] = make_song(
      (uint32_t)sqlite3_column_int64(made, 0), (const char *)sqlite3_column_text(made, 1),
      (size_t)sqlite3_column_bytes(made, 1), (uint32_t)sqlite3_column_int64(made, 2));
  }
  for (size_t index = 0; index < count; index++) free_song(songs[index]);
  free(songs);
  return count;
}
