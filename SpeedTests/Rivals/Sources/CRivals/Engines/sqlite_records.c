// Records under keys.
#include "sqlite.h"
#include <string.h>

enum { PUT, GET, SCAN, STATEMENTS };

static const char *const texts[STATEMENTS] = {
  [PUT] =
    "INSERT INTO record VALUES (?, ?) ON CONFLICT (key) DO UPDATE SET bytes = excluded.bytes",
  [GET] = "SELECT bytes FROM record WHERE key = ?",
  [SCAN] = "SELECT bytes FROM record WHERE key >= ? ORDER BY key LIMIT ?",
};
static sqlite3_stmt *statements[STATEMENTS];

// A statement with its first parameter.
static sqlite3_stmt *statement(int number, const char *key) {
  sqlite3_stmt **made = &statements[number];
  if (!*made)
    succeed(sqlite3_prepare_v3(
      database, texts[number], -1, SQLITE_PREPARE_PERSISTENT, made, NULL));
  sqlite3_bind_text(*made, 1, key, (int)strlen(key), SQLITE_STATIC);
  return *made;
}

void close_records(void) {
  for (int number = 0; number < STATEMENTS; number++) {
    sqlite3_finalize(statements[number]);
    statements[number] = NULL;
  }
}

static void make(void) {
  execute("CREATE TABLE IF NOT EXISTS record (key TEXT PRIMARY KEY, bytes BLOB NOT NULL)");
}

static void put(const char *key, const void *bytes, size_t size) {
  sqlite3_stmt *made = statement(PUT, key);
  sqlite3_bind_blob(made, 2, bytes, (int)size, SQLITE_STATIC);
  require(!next(made), "A put returned a row");
}

static void copy(sqlite3_stmt *made, void *bytes, size_t size) {
  const void *found = sqlite3_column_blob(made, 0);
  require((size_t)sqlite3_column_bytes(made, 0) == size, "A record of another size");
  memcpy(bytes, found, size);
}

static bool get(const char *key, void *bytes, size_t size) {
  sqlite3_stmt *made = statement(GET, key);
  if (!next(made)) return false;
  copy(made, bytes, size);
  sqlite3_reset(made);
  return true;
}

static size_t scan(const char *key, size_t limit, void *bytes, size_t size) {
  sqlite3_stmt *made = statement(SCAN, key);
  size_t count = 0;
  sqlite3_bind_int64(made, 2, (sqlite3_int64)limit);
  while (next(made)) copy(made, (char *)bytes + count++ * size, size);
  return count;
}

// Without a transaction that has begun, each statement is one.
const struct record_table sqlite_records = { make, put, put, get, scan };
