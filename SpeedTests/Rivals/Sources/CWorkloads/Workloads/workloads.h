// The workloads: what each measures is said in the speed tests themselves, under the same name.
#pragma once
#include "rivals.h"

void simple_fetch(const struct run *run);
void simple_scan(const struct run *run);
void complex_insert(const struct run *run);
void complex_fetch(const struct run *run);
void simple_update(const struct run *run);
struct run ten_times(const struct run *run);
void insert_ten_times(const struct run *run);
void random_fetch(const struct run *run);
void small_saves(const struct run *run);
void large_store_save(const struct run *run);
// Opens a store, changes the title of one song, saves, and closes.
void change_song(const struct run *run, size_t index);
void sustained_saves(const struct run *run);
void change_songs(const struct run *run);
void change_songs_and_die(const struct run *run);
void crash_recovery(const struct run *run);
void fill_stores(const struct run *run);
void many_stores(const struct run *run);
void insert_long_list(const struct run *run);
void list_edit(const struct run *run);
void open_close(const struct run *run);
void growth(const struct run *run);
void insert_buffers(const struct run *run);
void fetch_buffers(const struct run *run);
void ycsb_load(const struct run *run);
void ycsb_prepare(const struct run *run);
void sustained_puts(const struct run *run);
void ycsb_a(const struct run *run);
void ycsb_b(const struct run *run);
void ycsb_c(const struct run *run);
void ycsb_d(const struct run *run);
void ycsb_e(const struct run *run);
void ycsb_f(const struct run *run);
void insert_indexed_songs(const struct run *run);
void insert_ten_times_indexed(const struct run *run);
void insert_thousand_times_indexed(const struct run *run);
void indexed_lookup(const struct run *run);
void range_fetch(const struct run *run);
void sorted_page(const struct run *run);
void count_range(const struct run *run);
void insert_varied_songs(const struct run *run);
void insert_searched_songs(const struct run *run);
void insert_songs_of_words(const struct run *run);
void full_text_build(const struct run *run);
void full_text_search(const struct run *run);
void full_text_best(const struct run *run);
void full_text_words(const struct run *run);

// All songs in memory. They are not freed at the end, when the process ends.
struct song_list {
  struct song **songs;
  size_t count;
};

struct song_list fetch_songs(const struct engine *engine);
// Visits all songs, and keeps none.
void scan_songs(const struct run *run);
