// Songs and playlists as rows that are written by hand through libpq: one statement for each row, or
// one statement with arrays for all of them. Prints the time of each run in milliseconds.
//
//   libpq-rival URL SCHEMA WORKLOAD rows|arrays|transaction COUNT [START]
//
// Workloads: small (one INSERT and its commit), add, update, cold, and clients (small for COUNT
// seconds, from the time START on). In the mode transaction, BEGIN and COMMIT are statements of
// their own, as in a program that writes several rows; otherwise the INSERT commits by itself.
#include "rival.h"

#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

static PGconn *connection;

double now(clockid_t clock) {
  struct timespec time;
  clock_gettime(clock, &time);
  return (double)time.tv_sec + (double)time.tv_nsec / 1e9;
}

void fail(const char *message) {
  fprintf(stderr, "libpq-rival: %s\n", message);
  exit(1);
}

static PGresult *checked(PGresult *result) {
  ExecStatusType status = PQresultStatus(result);
  if (status != PGRES_COMMAND_OK && status != PGRES_TUPLES_OK) fail(PQerrorMessage(connection));
  return result;
}

void run(const char *sql) { PQclear(checked(PQexec(connection, sql))); }

void prepare(const char *name, const char *sql) {
  PQclear(checked(PQprepare(connection, name, sql, 0, 0)));
}

PGresult *execute(const char *name, int count, const char *const *values) {
  return checked(PQexecPrepared(connection, name, count, values, 0, 0, 0));
}

static void create(const char *schema) {
  char sql[512];
  snprintf(sql, sizeof sql, "create schema if not exists %s; set search_path = %s", schema, schema);
  run(sql);
  run("create table if not exists song (id bigint primary key, title text not null,"
      " seconds integer not null)");
  run("create table if not exists playlist (id bigint primary key, title text not null)");
  run("create table if not exists entry (playlist bigint, position integer, song bigint not null,"
      " primary key (playlist, position))");
}

// An INSERT of one row and its commit, in one round trip.
static void save_one(long id) {
  char number[24];
  snprintf(number, sizeof number, "%ld", id);
  PQclear(execute("song", 3, (const char *const[]){number, TITLE, "200"}));
}

static void save_some(long count, bool has_transaction) {
  for (long id = 1; id <= count; id++) {
    double start = now(CLOCK_MONOTONIC);
    if (has_transaction) run("begin");
    save_one(id);
    if (has_transaction) run("commit");
    printf("%f\n", (now(CLOCK_MONOTONIC) - start) * 1e3);
  }
}

// Saves until a number of seconds have passed; each process has rows of its own.
static void save_for(double seconds, double begin) {
  long id = (long)getpid() * 10000000;
  while (now(CLOCK_REALTIME) < begin) usleep(1000);
  while (now(CLOCK_REALTIME) < begin + seconds) {
    double start = now(CLOCK_MONOTONIC);
    save_one(id++);
    printf("%f\n", (now(CLOCK_MONOTONIC) - start) * 1e3);
  }
}

int main(int count, char **arguments) {
  if (count < 6) return 2;
  connection = PQconnectdb(arguments[1]);
  if (PQstatus(connection) != CONNECTION_OK) fail(PQerrorMessage(connection));
  PQclear(PQexec(connection, "set client_min_messages = warning"));
  create(arguments[2]);
  prepare("song", "insert into song values ($1, $2, $3)");
  const char *workload = arguments[3];
  struct graph graph = {.has_arrays = strcmp(arguments[4], "arrays") == 0};
  long runs = atol(arguments[5]);
  if (strcmp(workload, "small") == 0) {
    save_some(runs, strcmp(arguments[4], "transaction") == 0);
  } else if (strcmp(workload, "clients") == 0) {
    save_for((double)runs, count > 6 ? atof(arguments[6]) : now(CLOCK_REALTIME));
  } else {
    run_graph(&graph, workload, runs);
  }
  PQfinish(connection);
  return 0;
}
