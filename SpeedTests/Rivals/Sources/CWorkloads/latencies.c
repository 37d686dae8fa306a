// The times of single operations, of workloads that measure them.
#include "rivals.h"
#include <stdio.h>
#include <stdlib.h>

static double *times, begin;
static size_t count;

void begin_latency(const struct run *run) {
  if (!times) times = allocate(run->operations * sizeof *times);
  begin = now();
}

void end_latency(void) { times[count++] = now() - begin; }

static int compare(const void *left, const void *right) {
  double a = *(const double *)left, b = *(const double *)right;
  return (a > b) - (a < b);
}

// The least time that so many of a thousand operations did not exceed.
static double bound(size_t share) { return times[(count * share + 999) / 1000 - 1]; }

void print_latencies(void) {
  if (count == 0) return;
  qsort(times, count, sizeof *times, compare);
  printf(
    ", \"latencies\": {\"p50\": %.6f, \"p99\": %.6f, \"p999\": %.6f, \"longest\": %.6f}",
    bound(500), bound(990), bound(999), bound(1000));
}
