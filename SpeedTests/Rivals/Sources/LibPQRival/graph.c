#include "rival.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { all = playlist_count * song_count };

// A list of numbers or titles as the text of an array.
struct array {
  char *text;
  size_t count;
};

static struct array begin(void) { return (struct array){malloc(all * 160 + 2), 0}; }

static void append(struct array *array, const char *element) {
  array->text[array->count] = array->count == 0 ? '{' : ',';
  strcpy(array->text + array->count + 1, element);
  array->count += strlen(element) + 1;
}

static void append_number(struct array *array, long number) {
  char text[24];
  snprintf(text, sizeof text, "%ld", number);
  append(array, text);
}

static const char *end(struct array *array) {
  strcpy(array->text + array->count, "}");
  return array->text;
}

static void prepare_all(void) {
  prepare("playlist", "insert into playlist values ($1, $2)");
  prepare("entry", "insert into entry values ($1, $2, $3)");
  prepare("update", "update song set seconds = $2 where id = $1");
  prepare("playlists", "select id, title from playlist order by id");
  prepare("songs", "select s.id, s.title, s.seconds from entry e join song s on s.id = e.song"
                   " where e.playlist = $1 order by e.position");
  prepare("add all",
          "with songs as (insert into song"
          "   select * from unnest($1::bigint[], $2::text[], $3::integer[])),"
          " playlists as (insert into playlist select * from unnest($4::bigint[], $5::text[]))"
          " insert into entry select * from unnest($6::bigint[], $7::integer[], $1::bigint[])");
  prepare("update all", "update song s set seconds = n.seconds"
                        " from unnest($1::bigint[], $2::integer[]) n(id, seconds) where s.id = n.id");
  prepare("read all", "select p.id, p.title, s.id, s.title, s.seconds from playlist p"
                      " join entry e on e.playlist = p.id join song s on s.id = e.song"
                      " order by p.id, e.position");
}

// MARK: Adding

static void add_rows(struct graph *graph) {
  char numbers[3][24];
  run("begin");
  for (int list = 0; list < playlist_count; list++) {
    snprintf(numbers[0], sizeof numbers[0], "%ld", graph->playlist + list);
    PQclear(execute("playlist", 2, (const char *const[]){numbers[0], "A playlist"}));
    for (int place = 0; place < song_count; place++) {
      snprintf(numbers[1], sizeof numbers[1], "%d", place);
      snprintf(numbers[2], sizeof numbers[2], "%ld", graph->song + list * song_count + place);
      PQclear(execute("song", 3, (const char *const[]){numbers[2], TITLE, "200"}));
      PQclear(execute("entry", 3, (const char *const[]){numbers[0], numbers[1], numbers[2]}));
    }
  }
  run("commit");
}

static void add_arrays(struct graph *graph) {
  struct array arrays[7];
  for (int index = 0; index < 7; index++) arrays[index] = begin();
  for (int list = 0; list < playlist_count; list++) {
    append_number(&arrays[3], graph->playlist + list);
    append(&arrays[4], "\"A playlist\"");
  }
  for (int number = 0; number < all; number++) {
    append_number(&arrays[0], graph->song + number);
    append(&arrays[1], "\"" TITLE "\"");
    append_number(&arrays[2], 200);
    append_number(&arrays[5], graph->playlist + number / song_count);
    append_number(&arrays[6], number % song_count);
  }
  const char *values[7];
  for (int index = 0; index < 7; index++) values[index] = end(&arrays[index]);
  PQclear(execute("add all", 7, values));
  for (int index = 0; index < 7; index++) free(arrays[index].text);
}

static void add(struct graph *graph) {
  graph->song += all;
  graph->playlist += playlist_count;
  if (graph->has_arrays) add_arrays(graph);
  else add_rows(graph);
}

// MARK: Updating

static void update(struct graph *graph, long seconds) {
  char numbers[2][24];
  snprintf(numbers[1], sizeof numbers[1], "%ld", seconds);
  if (graph->has_arrays) {
    struct array ids = begin(), times = begin();
    for (int number = 0; number < all; number++) {
      append_number(&ids, graph->song + number);
      append_number(&times, seconds);
    }
    PQclear(execute("update all", 2, (const char *const[]){end(&ids), end(&times)}));
    free(ids.text);
    free(times.text);
    return;
  }
  run("begin");
  for (int number = 0; number < all; number++) {
    snprintf(numbers[0], sizeof numbers[0], "%ld", graph->song + number);
    PQclear(execute("update", 2, (const char *const[]){numbers[0], numbers[1]}));
  }
  run("commit");
}

// MARK: Reading

struct song {
  long id;
  char *title;
  int seconds;
};

static struct song song(PGresult *rows, int row, int column) {
  return (struct song){
      atol(PQgetvalue(rows, row, column)), strdup(PQgetvalue(rows, row, column + 1)),
      atoi(PQgetvalue(rows, row, column + 2))};
}

// Reads all songs into memory, as objects are.
static int read_all(struct graph *graph, struct song *songs) {
  int count = 0;
  if (graph->has_arrays) {
    PGresult *rows = execute("read all", 0, 0);
    for (int row = 0; row < PQntuples(rows); row++) songs[count++] = song(rows, row, 2);
    PQclear(rows);
    return count;
  }
  PGresult *lists = execute("playlists", 0, 0);
  for (int list = 0; list < PQntuples(lists); list++) {
    PGresult *rows = execute("songs", 1, (const char *const[]){PQgetvalue(lists, list, 0)});
    for (int row = 0; row < PQntuples(rows); row++) songs[count++] = song(rows, row, 0);
    PQclear(rows);
  }
  PQclear(lists);
  return count;
}

static void check_and_free(struct song *songs, int count) {
  long seconds = 0;
  for (int number = 0; number < count; number++) {
    seconds += songs[number].seconds;
    free(songs[number].title);
  }
  if (count != all || seconds != all * 200) fail("the songs differ");
}

void run_graph(struct graph *graph, const char *workload, long runs) {
  struct song songs[all];
  prepare_all();
  run("truncate song, playlist, entry");
  if (strcmp(workload, "add") != 0) add(graph);
  for (long number = 1; number <= runs; number++) {
    double start = now(CLOCK_MONOTONIC);
    int count = 0;
    if (strcmp(workload, "add") == 0) add(graph);
    else if (strcmp(workload, "update") == 0) update(graph, number);
    else count = read_all(graph, songs);
    printf("%f\n", (now(CLOCK_MONOTONIC) - start) * 1e3);
    if (strcmp(workload, "cold") == 0) check_and_free(songs, count);
  }
}
