// One step of one run, as the speed tests ask a program for it:
// PROGRAM one --workload W --engine E --count N --operations N --directory D
//   --durability L --step prepare|run
#include "rivals.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

static const char *option(int count, char **words, const char *name) {
  for (int index = 2; index + 1 < count; index += 2)
    if (strcmp(words[index], name) == 0) return words[index + 1];
  require(false, "%s is missing", name);
  return NULL;
}

static const struct engine *find_engine(const struct engine *const *engines, const char *name) {
  for (; *engines; engines++)
    if (strcmp((*engines)->name, name) == 0) return *engines;
  require(false, "There is no engine %s", name);
  return NULL;
}

static const struct workload *find_workload(const char *name) {
  for (const struct workload *workload = workloads; workload->name; workload++)
    if (strcmp(workload->name, name) == 0) return workload;
  require(false, "There is no workload %s", name);
  return NULL;
}

static enum durability find_durability(const char *name) {
  if (strcmp(name, "full") == 0) return FULL;
  if (strcmp(name, "process") == 0) return PROCESS;
  require(strcmp(name, "none") == 0, "There is no durability %s", name);
  return NONE;
}

static double peak_mib(void) {
  FILE *file = fopen("/proc/self/status", "r");
  char line[256];
  long kibibytes = 0;
  while (file && fgets(line, sizeof line, file))
    if (sscanf(line, "VmHWM: %ld", &kibibytes) == 1) break;
  if (file) fclose(file);
  return (double)kibibytes / 1024;
}

int run_step(const struct engine *const *engines, int count, char **words) {
  require(count > 1 && strcmp(words[1], "one") == 0, "This program is started by the speed tests");
  const struct workload *workload = find_workload(option(count, words, "--workload"));
  struct run run = {
    find_engine(engines, option(count, words, "--engine")), option(count, words, "--directory"),
    find_durability(option(count, words, "--durability")),
    strtoull(option(count, words, "--count"), NULL, 10),
    strtoull(option(count, words, "--operations"), NULL, 10) };
  mkdir(run.directory, 0777);
  if (strcmp(option(count, words, "--step"), "prepare") == 0) {
    if (workload->prepare) workload->prepare(&run);
    return 0;
  }
  double start = now();
  workload->run(&run);
  printf("{\"milliseconds\": %.4f, \"peakMiB\": %.3f", now() - start, peak_mib());
  print_latencies();
  puts("}");
  return 0;
}
