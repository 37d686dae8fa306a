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
  { "IndexedInsert", NULL, insert_indexed_songs },
  { "IndexedLookup", insert_ten_times_indexed, indexed_lookup },
  { "RangeFetch", insert_thousand_times_indexed, range_fetch },
  { "SortedPage", insert_thousand_times_indexed, sorted_page },
  { "CountRange", insert_thousand_times_indexed, count_range },
  { NULL, NULL, NULL },
};
