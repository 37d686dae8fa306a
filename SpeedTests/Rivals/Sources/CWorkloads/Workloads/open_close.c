#include "workloads.h"

void open_close(const struct run *run) {
  open_engine(run, run->count);
  run->engine->begin_reading();
  look_up(run->engine, run->count / 2);
  run->engine->end_reading();
  run->engine->close();
}
