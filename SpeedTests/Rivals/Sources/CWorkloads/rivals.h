// The functions that the workloads need of an engine, and their shared types.
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

// The events that a finished commit survives: power cuts, the end of the process, or none.
enum durability { FULL, PROCESS, NONE };

// The objects that a program has in hand: each allocated, with strings of its own.
struct song {
  uint32_t id;
  uint32_t seconds;
  char *title;
};

struct playlist {
  uint32_t id;
  uint32_t count;
  uint32_t *songs;
  char *title;
};

// Called with what an engine lends for the time of the call.
typedef void song_visitor(
  uint32_t id, const char *title, size_t length, uint32_t seconds, void *context);
typedef void title_visitor(
  const char *playlist, size_t playlist_length, const char *song, size_t song_length,
  void *context);

// Finding songs by an index of their titles. The caller frees the songs found.
struct finder {
  // Has the index kept from now on.
  void (*make_index)(void);
  struct song *(*titled)(const char *title);
  // Songs in the order of their titles, the first one not before a title; how many there are.
  size_t (*from_title)(const char *title, size_t limit, struct song **songs);
  // Songs in the same order, which come behind one.
  size_t (*behind)(const struct song *song, size_t limit, struct song **songs);
  // How many are not before a title, and before another.
  size_t (*count_between)(const char *title, const char *end);
};

// Records of bytes under keys, in the order of the keys. A call is a transaction of its own, unless
// one has begun.
struct record_table {
  // Makes the table, unless it is there.
  void (*make)(void);
  // Puts a record in the transaction that has begun.
  void (*add)(const char *key, const void *bytes, size_t size);
  // Puts a record in a transaction of its own, under a new key or not.
  void (*put)(const char *key, const void *bytes, size_t size);
  // Copies a record of some size; false if there is none.
  bool (*get)(const char *key, void *bytes, size_t size);
  // Copies records of some size one after the other, the first one not before a key; how many.
  size_t (*scan)(const char *key, size_t limit, void *bytes, size_t size);
};

// The kinds of full-text searches.
enum text_kind { ALL_PARTS, BEST_PARTS, BEST_WORDS };

struct engine {
  const char *name;
  // Opens or makes the files for about so many songs.
  void (*open)(const char *directory, enum durability durability, size_t expected);
  void (*close)(void);
  // A transaction around all writes in between. Nothing is written without one.
  void (*begin)(void);
  void (*commit)(void);
  // A snapshot for all reads in between.
  void (*begin_reading)(void);
  void (*end_reading)(void);
  void (*put_song)(uint32_t id, const char *title, size_t length, uint32_t seconds);
  void (*set_title)(const struct song *song);
  struct song *(*get_song)(uint32_t id);
  void (*each_song)(song_visitor *visit, void *context);
  void (*put_playlist)(const struct playlist *playlist);
  struct playlist *(*get_playlist)(uint32_t id);
  // Moves one entry, in memory and in the files.
  void (*move)(struct playlist *playlist, uint32_t from, uint32_t to);
  // All playlists, each with the title of its first song.
  void (*first_titles)(title_visitor *visit, void *context);
  void (*put_buffer)(const char *name, uint32_t value);
  uint32_t (*get_buffer)(const char *name);
  // NULL where nothing is found by title.
  const struct finder *finder;
  // Makes the full-text index of all titles; engines without one have none of these.
  void (*build_text)(enum text_kind kind);
  // Fetches the songs that have a text, or words that begin with it; the number of them.
  size_t (*search_text)(enum text_kind kind, const char *text, bool goes_on);
  // NULL where there are no records in the order of their keys.
  const struct record_table *records;
};

struct run {
  const struct engine *engine;
  const char *directory;
  enum durability durability;
  size_t count;
  // How many operations a run does of a workload whose count is that of something else.
  size_t operations;
};

struct workload {
  const char *name;
  void (*prepare)(const struct run *run);
  void (*run)(const struct run *run);
};

extern const struct workload workloads[];

// Runs the step that the command line names on one of the engines, after the last of which is NULL.
int run_step(const struct engine *const *engines, int count, char **words);
// Opens the engine for a run.
void open_engine(const struct run *run, size_t expected);

// Ends the process with what went wrong, unless the condition holds.
void require(bool condition, const char *format, ...) __attribute__((format(printf, 2, 3)));

// Memory or the end of the process.
void *allocate(size_t size);
char *copy_string(const char *bytes, size_t length);
struct song *make_song(uint32_t id, const char *title, size_t length, uint32_t seconds);
char *path_in(const char *directory, const char *name);

static inline void free_song(struct song *song) {
  free(song->title);
  free(song);
}

// Gives a song another title, which may be made of the old one.
void rename_song(struct song *song, const char *format, ...) __attribute__((format(printf, 2, 3)));

// "Song 42"; the number of its characters.
size_t song_title(char title[32], size_t index);
// Puts all songs, in the transaction that has begun.
void put_songs(const struct run *run);
// The title of a song of a library, and a word to search for in them.
size_t varied_title(char title[128], size_t index);
size_t wanted_word(char word[32], size_t index);
// Puts all songs, in one transaction.
void insert_songs(const struct run *run);
// Puts songs, and playlists of so many songs each, in one transaction.
void insert_playlists(const struct run *run, uint32_t length);
// The order that no disk likes: 0 to below count, from this state on.
static const uint64_t first_random = 88172645463325252;
size_t next_random(uint64_t *state, size_t count);
// Looks a song up and makes sure that it is the one; the second keeps nothing.
struct song *fetch_song(const struct engine *engine, size_t index);
void look_up(const struct engine *engine, size_t index);

// Milliseconds from some moment on.
double now(void);
// Between the two is one operation of a run; what they took goes into the answer.
void begin_latency(const struct run *run);
void end_latency(void);
void print_latencies(void);
