#include "zipfian.h"
#include "rivals.h"
#include <math.h>

static const double skew = 0.99, sum_of_many = 26.46902820178302;

struct zipfian zipfian_below(size_t count) {
  struct zipfian zipfian = { 0, 0 };
  while (count-- > 0) grow_zipfian(&zipfian);
  return zipfian;
}

struct zipfian zipfian_of_many(void) { return (struct zipfian){ 1e10, sum_of_many }; }

void grow_zipfian(struct zipfian *zipfian) {
  zipfian->count += 1;
  zipfian->sum += 1 / pow(zipfian->count, skew);
}

uint64_t next_zipfian(const struct zipfian *zipfian, uint64_t *state) {
  double share = (double)next_random(state, (size_t)1 << 53) / (double)((size_t)1 << 53);
  double place = share * zipfian->sum, second = pow(0.5, skew);
  if (place < 1) return 0;
  if (place < 1 + second) return 1;
  double eta = (1 - pow(2 / zipfian->count, 1 - skew)) / (1 - (1 + second) / zipfian->sum);
  return (uint64_t)(zipfian->count * pow(eta * share - eta + 1, 1 / (1 - skew)));
}

uint64_t scattered(uint64_t number) {
  uint64_t hash = 0xCBF29CE484222325u;
  for (int byte = 0; byte < 8; byte++) {
    hash ^= number >> 8 * byte & 0xFF;
    hash *= 0x100000001B3u;
  }
  return hash;
}
