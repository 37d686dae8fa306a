// One of several processes that save records of 100 bytes to one SQLite database, each in a transaction
// of its own. Prints how many it saved in a second.
#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

static double now(void) {
  struct timespec time;
  clock_gettime(CLOCK_MONOTONIC, &time);
  return (double)time.tv_sec + (double)time.tv_nsec / 1e9;
}

static sqlite3 *database;

static void check(int result, int expected) {
  if (result == expected) return;
  fprintf(stderr, "sqlite-writer: %s\n", sqlite3_errmsg(database));
  exit(1);
}

static void run(const char *sql) { check(sqlite3_exec(database, sql, 0, 0, 0), SQLITE_OK); }

static void step(sqlite3_stmt *statement) {
  check(sqlite3_step(statement), SQLITE_DONE);
  check(sqlite3_reset(statement), SQLITE_OK);
}

static sqlite3_stmt *prepare(const char *sql) {
  sqlite3_stmt *statement;
  check(sqlite3_prepare_v2(database, sql, -1, &statement, 0), SQLITE_OK);
  return statement;
}

int main(int count, char **arguments) {
  if (count != 3) return 2;
  check(sqlite3_open(arguments[1], &database), SQLITE_OK);
  sqlite3_busy_timeout(database, 30000);
  run("PRAGMA journal_mode = WAL");
  run("PRAGMA synchronous = FULL");
  run("CREATE TABLE IF NOT EXISTS song (id INTEGER PRIMARY KEY, record BLOB)");
  sqlite3_stmt *begin = prepare("BEGIN IMMEDIATE"), *commit = prepare("COMMIT");
  sqlite3_stmt *save = prepare("INSERT OR REPLACE INTO song VALUES (?, ?)");
  char record[100];
  memset(record, 7, sizeof record);
  srand((unsigned)time(0) ^ (unsigned)(size_t)&count);
  double seconds = atof(arguments[2]), start = now();
  long saves = 0;
  for (; now() - start < seconds; saves++) {
    step(begin);
    sqlite3_bind_int(save, 1, 2 + rand() % 998);
    sqlite3_bind_blob(save, 2, record, sizeof record, SQLITE_STATIC);
    step(save);
    step(commit);
  }
  printf("%f\n", (double)saves / (now() - start));
  return 0;
}
