#include "workloads.h"

void growth(const struct run *run) {
  insert_songs(run);
  open_engine(run, run->count);
  scan_songs(run);
  run->engine->close();
}
