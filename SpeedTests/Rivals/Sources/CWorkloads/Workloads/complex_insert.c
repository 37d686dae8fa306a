#include "workloads.h"

void complex_insert(const struct run *run) { insert_playlists(run, 100); }
