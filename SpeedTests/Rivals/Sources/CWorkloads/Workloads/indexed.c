#include "workloads.h"
#include <stdlib.h>
#include <string.h>

enum { RANGE = 100, PAGE = 50 };

static struct run times(const struct run *run, size_t factor) {
  struct run larger = *run;
  larger.count *= factor;
  return larger;
}

void insert_indexed_songs(const struct run *run) {
  open_engine(run, run->count);
  require(run->engine->finder, "%s has no index", run->engine->name);
  run->engine->finder->make_index();
  run->engine->begin();
  put_songs(run);
  run->engine->commit();
  run->engine->close();
}

void insert_ten_times_indexed(const struct run *run) {
  struct run larger = times(run, 10);
  insert_indexed_songs(&larger);
}

void insert_thousand_times_indexed(const struct run *run) {
  struct run larger = times(run, 1000);
  insert_indexed_songs(&larger);
}

static void drop_all(struct song **songs, size_t count) {
  for (size_t index = 0; index < count; index++) free_song(songs[index]);
}

static const struct finder *begin(const struct run *run, size_t factor) {
  open_engine(run, run->count * factor);
  run->engine->begin_reading();
  return run->engine->finder;
}

static void end(const struct run *run) {
  run->engine->end_reading();
  run->engine->close();
}

void indexed_lookup(const struct run *run) {
  const struct finder *finder = begin(run, 10);
  uint64_t state = first_random;
  char title[32];
  for (size_t number = 0; number < run->count; number++) {
    size_t index = next_random(&state, run->count * 10);
    song_title(title, index);
    struct song *song = finder->titled(title);
    require(song && song->seconds == index % 600, "%s is another song", title);
    free_song(song);
  }
  end(run);
}

void range_fetch(const struct run *run) {
  const struct finder *finder = begin(run, 1000);
  struct song *songs[RANGE];
  uint64_t state = first_random;
  char title[32];
  for (size_t number = 0; number < run->count; number++) {
    song_title(title, next_random(&state, run->count * 900));
    size_t count = finder->from_title(title, RANGE, songs);
    require(count == RANGE && strcmp(songs[0]->title, title) >= 0, "There are %zu songs", count);
    drop_all(songs, count);
  }
  end(run);
}

void sorted_page(const struct run *run) {
  const struct finder *finder = begin(run, 1000);
  struct song *songs[PAGE], *middle = run->engine->get_song((uint32_t)run->count * 500);
  for (size_t number = 0; number < run->count; number++) {
    size_t count = finder->behind(middle, PAGE, songs);
    require(count == PAGE, "There are %zu songs", count);
    drop_all(songs, count);
  }
  free_song(middle);
  end(run);
}

void count_range(const struct run *run) {
  const struct finder *finder = begin(run, 1000);
  uint64_t state = first_random;
  char titles[2][32];
  for (size_t number = 0; number < run->count; number++) {
    song_title(titles[0], next_random(&state, run->count * 1000));
    song_title(titles[1], next_random(&state, run->count * 1000));
    int order = strcmp(titles[0], titles[1]);
    size_t count = finder->count_between(titles[order > 0], titles[order <= 0]);
    require(count > 0 || order == 0, "There are none");
  }
  end(run);
}
