// Numbers of which small ones are frequent: see the speed tests' own.
#pragma once
#include <stddef.h>
#include <stdint.h>

struct zipfian {
  double count, sum;
};

// Draws from the numbers below a count; from ten billion.
struct zipfian zipfian_below(size_t count);
struct zipfian zipfian_of_many(void);
// Draws from one number more from now on.
void grow_zipfian(struct zipfian *zipfian);
// The next number, by the next random ones.
uint64_t next_zipfian(const struct zipfian *zipfian, uint64_t *state);
// A hash of a number.
uint64_t scattered(uint64_t number);
