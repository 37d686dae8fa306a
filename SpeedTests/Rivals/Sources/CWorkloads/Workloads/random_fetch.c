#include "workloads.h"

struct run ten_times(const struct run *run) {
  struct run larger = *run;
  larger.count *= 10;
  return larger;
}

void insert_ten_times(const struct run *run) {
  struct run larger = ten_times(run);
  insert_songs(&larger);
}

void random_fetch(const struct run *run) {
  struct run larger = ten_times(run);
  uint64_t state = first_random;
  open_engine(&larger, larger.count);
  run->engine->begin_reading();
  for (size_t number = 0; number < run->count; number++)
    look_up(run->engine, next_random(&state, larger.count));
  run->engine->end_reading();
  run->engine->close();
}
