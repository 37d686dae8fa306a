#include "workloads.h"
#include "zipfian.h"
#include <stdio.h>
#include <string.h>

enum {
  words = 125, record_size = 8 * words, field_size = 100, batch_size = 1000, longest_scan = 100,
  puts_each = 100
};

enum operation { READ, UPDATE, INSERT, SCAN, MODIFY };

struct mix {
  enum operation frequent;
  // How many of a hundred operations are the frequent one.
  size_t share;
  enum operation other;
  bool has_latest;
};

struct client {
  const struct record_table *table;
  bool has_latest;
  // Records that there are.
  size_t count;
  uint64_t random;
  struct zipfian zipfian;
};

static void record_key(char key[32], uint64_t number) {
  snprintf(key, 32, "user%llu", (unsigned long long)scattered(number));
}

// The number, then bytes that nobody can compress.
static void make_record(uint64_t record[words], uint64_t number, uint64_t version) {
  uint64_t bits = (number + 1) * 0x9E3779B97F4A7C15u + version;
  record[0] = number;
  for (int word = 1; word < words; word++) {
    bits ^= bits << 13;
    bits ^= bits >> 7;
    bits ^= bits << 17;
    record[word] = bits;
  }
}

void ycsb_load(const struct run *run) {
  uint64_t record[words];
  char key[32];
  open_engine(run, run->count);
  run->engine->records->make();
  for (size_t number = 0; number < run->count; number++) {
    if (number % batch_size == 0) run->engine->begin();
    record_key(key, number);
    make_record(record, number, 0);
    run->engine->records->add(key, record, record_size);
    if ((number + 1) % batch_size == 0 || number + 1 == run->count) run->engine->commit();
  }
  run->engine->close();
}

// Opens what was loaded once more, as some engines put things in order then.
void ycsb_prepare(const struct run *run) {
  ycsb_load(run);
  open_engine(run, run->count);
  run->engine->close();
}

static uint64_t chosen(struct client *client) {
  uint64_t number = next_zipfian(&client->zipfian, &client->random);
  return client->has_latest ? client->count - 1 - number : scattered(number) % client->count;
}

static void read_record(struct client *client, uint64_t number, uint64_t record[words]) {
  char key[32];
  record_key(key, number);
  require(client->table->get(key, record, record_size), "There is no %s", key);
  require(record[0] == number, "%s is another record", key);
}

static void put_record(struct client *client, uint64_t number, uint64_t record[words]) {
  char key[32];
  record_key(key, number);
  client->table->put(key, record, record_size);
}

static void insert(struct client *client) {
  uint64_t record[words];
  make_record(record, client->count, 0);
  put_record(client, client->count++, record);
  if (client->has_latest) grow_zipfian(&client->zipfian);
}

static void update(struct client *client, uint64_t number, size_t version) {
  uint64_t record[words];
  make_record(record, number, version);
  put_record(client, number, record);
}

// Changes one field of a record.
static void modify(struct client *client, uint64_t number, size_t version) {
  uint64_t record[words], changed[words];
  size_t field = version % 10 * field_size;
  read_record(client, number, record);
  make_record(changed, number, version);
  memcpy((char *)record + field, (char *)changed + field, field_size);
  put_record(client, number, record);
}

static void scan(struct client *client, uint64_t number) {
  static uint64_t records[longest_scan][words];
  char key[32];
  size_t limit = 1 + next_random(&client->random, longest_scan);
  record_key(key, number);
  size_t count = client->table->scan(key, limit, records, record_size);
  require(count > 0 && records[0][0] == number, "%s is another record", key);
}

static void perform(struct client *client, enum operation operation, size_t version) {
  uint64_t record[words];
  switch (operation) {
  case READ: return read_record(client, chosen(client), record);
  case UPDATE: return update(client, chosen(client), version);
  case INSERT: return insert(client);
  case SCAN: return scan(client, chosen(client));
  case MODIFY: return modify(client, chosen(client), version);
  }
}

static void work(const struct run *run, struct mix mix) {
  open_engine(run, run->count);
  run->engine->records->make();
  struct client client = {
    run->engine->records, mix.has_latest, run->count, first_random,
    mix.has_latest ? zipfian_below(run->count) : zipfian_of_many() };
  for (size_t number = 1; number <= run->operations; number++) {
    bool is_frequent = next_random(&client.random, 100) < mix.share;
    perform(&client, is_frequent ? mix.frequent : mix.other, number);
  }
  run->engine->close();
}

void ycsb_a(const struct run *run) { work(run, (struct mix){ READ, 50, UPDATE, false }); }
void ycsb_b(const struct run *run) { work(run, (struct mix){ READ, 95, UPDATE, false }); }
void ycsb_c(const struct run *run) { work(run, (struct mix){ READ, 100, READ, false }); }
void ycsb_d(const struct run *run) { work(run, (struct mix){ READ, 95, INSERT, true }); }
void ycsb_e(const struct run *run) { work(run, (struct mix){ SCAN, 95, INSERT, false }); }
void ycsb_f(const struct run *run) { work(run, (struct mix){ READ, 50, MODIFY, false }); }

// Puts records in random order; made before the time of their commit begins.
void sustained_puts(const struct run *run) {
  static uint64_t records[puts_each][words];
  char key[32];
  uint64_t state = first_random;
  open_engine(run, run->count);
  for (size_t version = 1; version <= run->operations; version++) {
    for (size_t place = 0; place < puts_each; place++)
      make_record(records[place], next_random(&state, run->count), version);
    begin_latency(run);
    run->engine->begin();
    for (size_t place = 0; place < puts_each; place++) {
      record_key(key, records[place][0]);
      run->engine->records->add(key, records[place], record_size);
    }
    run->engine->commit();
    end_latency();
  }
  run->engine->close();
}
