// RocksDB by its tuning guide: Bloom filters, a cache that holds the data, and no compression, as
// the others have none. A commit of several records is a write batch. There are records only.
#include "rivals.h"
#include <rocksdb/c.h>
#include <string.h>

static rocksdb_t *database;
static rocksdb_readoptions_t *reads;
static rocksdb_writeoptions_t *writes;
static rocksdb_writebatch_t *batch;

static void succeed(char *error) { require(!error, "RocksDB: %s", error); }

static rocksdb_options_t *options(void) {
  rocksdb_options_t *options = rocksdb_options_create();
  rocksdb_block_based_table_options_t *tables = rocksdb_block_based_options_create();
  rocksdb_block_based_options_set_filter_policy(
    tables, rocksdb_filterpolicy_create_bloom_full(10));
  rocksdb_block_based_options_set_block_cache(
    tables, rocksdb_cache_create_lru((size_t)256 << 20));
  rocksdb_options_set_block_based_table_factory(options, tables);
  rocksdb_options_set_compression(options, rocksdb_no_compression);
  rocksdb_options_set_create_if_missing(options, 1);
  rocksdb_options_increase_parallelism(options, 2);
  return options;
}

// Without a sync a write is with the system when it returns, which survives the process.
static void open_database(const char *directory, enum durability durability, size_t expected) {
  (void)expected;
  char *error = NULL;
  database = rocksdb_open(options(), directory, &error);
  succeed(error);
  reads = rocksdb_readoptions_create();
  writes = rocksdb_writeoptions_create();
  rocksdb_writeoptions_set_sync(writes, durability == FULL);
}

static void close_database(void) { rocksdb_close(database); }

static void begin(void) { batch = rocksdb_writebatch_create(); }

static void commit(void) {
  char *error = NULL;
  rocksdb_write(database, writes, batch, &error);
  succeed(error);
  rocksdb_writebatch_destroy(batch);
}

static void make(void) {}

static void add(const char *key, const void *bytes, size_t size) {
  rocksdb_writebatch_put(batch, key, strlen(key), bytes, size);
}

static void put(const char *key, const void *bytes, size_t size) {
  char *error = NULL;
  rocksdb_put(database, writes, key, strlen(key), bytes, size, &error);
  succeed(error);
}

static bool get(const char *key, void *bytes, size_t size) {
  char *error = NULL;
  size_t found_size = 0;
  rocksdb_pinnableslice_t *found =
    rocksdb_get_pinned(database, reads, key, strlen(key), &error);
  succeed(error);
  const char *found_bytes = rocksdb_pinnableslice_value(found, &found_size);
  bool is_there = found && found_size == size;
  if (is_there) memcpy(bytes, found_bytes, size);
  rocksdb_pinnableslice_destroy(found);
  return is_there;
}

static size_t scan(const char *key, size_t limit, void *bytes, size_t size) {
  rocksdb_iterator_t *records = rocksdb_create_iterator(database, reads);
  size_t count = 0, found_size;
  rocksdb_iter_seek(records, key, strlen(key));
  for (; count < limit && rocksdb_iter_valid(records); rocksdb_iter_next(records)) {
    const char *found = rocksdb_iter_value(records, &found_size);
    require(found_size == size, "A record of %zu bytes", found_size);
    memcpy((char *)bytes + count++ * size, found, size);
  }
  rocksdb_iter_destroy(records);
  return count;
}

static const struct record_table records = { make, add, put, get, scan };

static const struct engine engine = {
  .name = "rocksdb-c",
  .open = open_database,
  .close = close_database,
  .begin = begin,
  .commit = commit,
  .records = &records,
};

int main(int count, char **words) {
  static const struct engine *const engines[] = { &engine, NULL };
  return run_step(engines, count, words);
}
