// Declarations that the parts of the engine on SQLite share.
#pragma once
#include "engines.h"
#include <sqlite3.h>

extern sqlite3 *database;

void succeed(int code);
void execute(const char *text);
// Whether there is another row; resets the statement after the last.
bool next(sqlite3_stmt *made);

// Records.
extern const struct record_table sqlite_records;
void close_records(void);

// Full-text search.
void close_text(void);
void build_text(enum text_kind kind);
size_t search_text(enum text_kind kind, const char *text, bool goes_on);
