#include "workloads.h"

const struct workload workloads[] = {
  { "SimpleInsert", NULL, insert_songs },
  { "SimpleFetch", insert_songs, simple_fetch },
  { "SimpleScan", insert_songs, simple_scan },
  { "ComplexInsert", NULL, complex_insert },
  { "ComplexFetch", complex_insert, complex_fetch },
  { "SimpleUpdate", insert_songs, simple_update },
  { "RandomFetch", insert_ten_times, random_fetch },
  { "SmallSaves", NULL, small_saves },
  { "LargeStoreSave", insert_songs, large_store_save },
  { "ListEdit", insert_long_list, list_edit },
  { "OpenClose", insert_songs, open_close },
  { "Growth", NULL, growth },
  { "NamedBufferInsert", NULL, insert_buffers },
  { "NamedBufferFetch", insert_buffers, fetch_buffers },
  { "FullTextBuild", insert_varied_songs, full_text_build },
  { "FullTextSearch", insert_searched_songs, full_text_search },
  { "FullTextBest", insert_searched_songs, full_text_best },
  { "FullTextWords", insert_songs_of_words, full_text_words },
  { NULL, NULL, NULL },
};
