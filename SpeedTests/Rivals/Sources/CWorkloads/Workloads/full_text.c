#include "workloads.h"

static const size_t searches = 240;

void insert_varied_songs(const struct run *run) {
  char title[128];
  open_engine(run, run->count);
  run->engine->begin();
  for (size_t index = 0; index < run->count; index++) {
    size_t length = varied_title(title, index);
    run->engine->put_song((uint32_t)index + 1, title, length, (uint32_t)(index % 600));
  }
  run->engine->commit();
  run->engine->close();
}

static void build(const struct run *run, enum text_kind kind) {
  open_engine(run, run->count);
  run->engine->build_text(kind);
  run->engine->close();
}

void full_text_build(const struct run *run) { build(run, ALL_PARTS); }

void insert_searched_songs(const struct run *run) {
  insert_varied_songs(run);
  build(run, ALL_PARTS);
}

void insert_songs_of_words(const struct run *run) {
  insert_varied_songs(run);
  build(run, BEST_WORDS);
}

static void search(const struct run *run, enum text_kind kind) {
  char word[32];
  open_engine(run, run->count);
  for (size_t index = 0; index < searches; index++) {
    size_t length = wanted_word(word, index);
    bool is_prefix = kind == BEST_WORDS && index % 2 == 1;
    if (is_prefix) word[length - 1] = 0;
    size_t found = run->engine->search_text(kind, kind == BEST_WORDS ? word : word + 1, is_prefix);
    require(found > 0 || index % 12 > 2, "Nothing has %s", word);
  }
  run->engine->close();
}

void full_text_search(const struct run *run) { search(run, ALL_PARTS); }

void full_text_best(const struct run *run) { search(run, BEST_PARTS); }

void full_text_words(const struct run *run) { search(run, BEST_WORDS); }
