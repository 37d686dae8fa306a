// Declarations that the files of the program share.
#include <libpq-fe.h>
#include <stdbool.h>
#include <time.h>
#include <unistd.h>

// A title that makes a song as large as an object of zodbshootout: 128 bytes.
#define TITLE \
  "A song with a title that is long enough to make its record one hundred and twenty-eight bytes " \
  "long in the end, as others"

enum { playlist_count = 10, song_count = 100 };

// 1,000 songs in 10 playlists.
struct graph {
  bool has_arrays;
  // The first row of the songs and of the playlists.
  long song, playlist;
};

double now(clockid_t clock);
void fail(const char *message);
void run(const char *sql);
void prepare(const char *name, const char *sql);
PGresult *execute(const char *name, int count, const char *const *values);
void run_graph(struct graph *graph, const char *workload, long runs);
