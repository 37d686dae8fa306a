#include "workloads.h"
#include <stdio.h>

void insert_buffers(const struct run *run) {
  char name[32];
  open_engine(run, run->count);
  run->engine->begin();
  for (size_t index = 0; index < run->count; index++) {
    snprintf(name, sizeof name, "Buffer %zu", index);
    run->engine->put_buffer(name, (uint32_t)index);
  }
  run->engine->commit();
  run->engine->close();
}

void fetch_buffers(const struct run *run) {
  char name[32];
  open_engine(run, run->count);
  run->engine->begin_reading();
  for (size_t index = 0; index < run->count; index++) {
    snprintf(name, sizeof name, "Buffer %zu", index);
    require(run->engine->get_buffer(name) == index, "%s holds another number", name);
  }
  run->engine->end_reading();
  run->engine->close();
}
