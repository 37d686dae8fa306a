// The engines of this program.
#pragma once
#include "rivals.h"

extern const struct engine sqlite_engine, tokyo_engine, lmdb_engine;
