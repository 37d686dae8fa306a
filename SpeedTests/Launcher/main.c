// Runs a program: launcher CORES PROGRAM WORDS...
//
// It adds a line to the output of the program. The line has the milliseconds from the start to the end
// of its process, the bytes written to the disk, and the peak memory in MiB without mapped files. It is small, so that starting another process from it costs next to nothing. With CORES 0
// the program runs on all of them.
#define _GNU_SOURCE
#include <poll.h>
#include <sched.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/pidfd.h>
#include <sys/wait.h>
#include <time.h>

extern char **environ;

// The time between two samples of the memory, each of which takes 20 microseconds.
enum { sample_milliseconds = 10 };

static double now(void) {
  struct timespec time;
  clock_gettime(CLOCK_MONOTONIC, &time);
  return (double)time.tv_sec * 1e3 + (double)time.tv_nsec / 1e6;
}

// The number after a name in a file of /proc about a process, or 0.
static long number_of(pid_t process, const char *file, const char *name) {
  char path[64], line[256];
  long number = 0;
  snprintf(path, sizeof path, "/proc/%d/%s", (int)process, file);
  FILE *stream = fopen(path, "r");
  while (stream && fgets(line, sizeof line, stream)) {
    if (strncmp(line, name, strlen(name)) != 0) continue;
    number = strtol(line + strlen(name), NULL, 10);
    break;
  }
  if (stream) fclose(stream);
  return number;
}

// Waits for the end of a process, and leaves it as a zombie; returns its peak memory in KiB.
static long watch(pid_t process) {
  struct pollfd end = { pidfd_open(process, 0), POLLIN, 0 };
  long most = 0;
  while (end.fd >= 0 && poll(&end, 1, sample_milliseconds) == 0) {
    long kibibytes = number_of(process, "status", "RssAnon:");
    if (kibibytes > most) most = kibibytes;
  }
  waitid(P_PID, (id_t)process, NULL, WEXITED | WNOWAIT);
  return most;
}

// The last cores that this process may run on, as interrupts go to the first ones.
static cpu_set_t last_cores(cpu_set_t allowed, int count) {
  for (int core = 0; CPU_COUNT(&allowed) > count; core++) CPU_CLR(core, &allowed);
  return allowed;
}

// Starts a program on a number of cores, which a process inherits from the one that starts it.
static int start(pid_t *process, int cores, char **words) {
  cpu_set_t allowed, chosen;
  if (cores <= 0) return posix_spawn(process, words[0], NULL, NULL, words, environ);
  if (sched_getaffinity(0, sizeof allowed, &allowed) != 0) return -1;
  chosen = last_cores(allowed, cores);
  if (sched_setaffinity(0, sizeof chosen, &chosen) != 0) return -1;
  int code = posix_spawn(process, words[0], NULL, NULL, words, environ);
  sched_setaffinity(0, sizeof allowed, &allowed);
  return code;
}

int main(int count, char **words) {
  pid_t process;
  int status;
  if (count < 3) return 64;
  double begin = now();
  if (start(&process, atoi(words[1]), words + 2) != 0) return 127;
  long memory = watch(process);
  double whole = now() - begin;
  long written = number_of(process, "io", "write_bytes:");
  if (waitpid(process, &status, 0) != process) return 126;
  if (!WIFEXITED(status)) return 125;
  printf("%.4f %ld %.3f\n", whole, written, (double)memory / 1024);
  return WEXITSTATUS(status);
}
