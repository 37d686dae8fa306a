// What the two halves of the engine on SQLite share.
#pragma once
#include "rivals.h"
#include <sqlite3.h>

extern sqlite3 *database;

void succeed(int code);
void execute(const char *text);
// Whether there is another row; resets the statement after the last.
bool next(sqlite3_stmt *made);

// The full-text half.
void close_text(void);
void build_text(enum text_kind kind);
size_t search_text(enum text_kind kind, const char *text, bool goes_on);
