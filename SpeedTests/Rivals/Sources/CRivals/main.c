// Runs workloads on the engines in C that start quickly; RocksDB has a program of its own, as
// loading its library takes longer than some of the workloads.
#include "engines.h"

int main(int count, char **words) {
  static const struct engine *const engines[] = {
    &sqlite_engine, &tokyo_engine, &lmdb_engine, NULL };
  return run_step(engines, count, words);
}
