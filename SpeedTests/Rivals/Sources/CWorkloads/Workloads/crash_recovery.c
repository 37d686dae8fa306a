#include "workloads.h"
#include <unistd.h>

void change_songs_and_die(const struct run *run) {
  struct run larger = ten_times(run);
  larger.operations = run->count / 100;
  insert_songs(&larger);
  open_engine(&larger, larger.count);
  change_songs(&larger);
  _exit(0);
}

void crash_recovery(const struct run *run) {
  open_engine(run, run->count * 10);
  run->engine->begin_reading();
  look_up(run->engine, run->count);
  run->engine->end_reading();
}
