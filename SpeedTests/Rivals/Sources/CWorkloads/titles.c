// Titles of songs as different from each other as those of a library: see the speed tests' own.
#include "rivals.h"
#include <stdio.h>
#include <string.h>

#define WORD_BITS 15
#define ACCENT "\xC3\xA9"

static const char *const onsets[] = {
  "b", "c", "d", "f", "g", "h", "l", "m", "n", "p", "r", "s", "t", "v", "st", "ch",
};
static const char *const vowels[] = { "a", "e", "i", "o", "u", "a", "e", "o" };
static const char *const codas[] = { "", "", "", "n", "r", "s", "l", "t" };

static uint64_t mixed(uint64_t number) {
  uint64_t bits = number * 0x9E3779B97F4A7C15u;
  bits = (bits ^ (bits >> 30)) * 0xBF58476D1CE4E5B9u;
  bits = (bits ^ (bits >> 27)) * 0x94D049BB133111EBu;
  return bits ^ (bits >> 31);
}

static size_t make_word(char word[32], uint64_t number) {
  uint64_t bits = mixed(number);
  bool has_accent = bits >> 58 == 0;
  int width = 64 - __builtin_clzll(number);
  word[0] = 0;
  for (int syllable = 0; syllable < 1 + width / 5; syllable++, bits >>= 10) {
    strcat(word, onsets[bits & 15]);
    strcat(word, has_accent && syllable == 0 ? ACCENT : vowels[bits >> 4 & 7]);
    strcat(word, codas[bits >> 7 & 7]);
  }
  return strlen(word);
}

static uint64_t word_number(uint64_t octave, uint64_t bits) {
  return ((uint64_t)1 << octave) + (bits & (((uint64_t)1 << octave) - 1));
}

size_t varied_title(char title[128], size_t index) {
  size_t count = 2 + mixed(index + ((uint64_t)1 << 32)) % 5, length = 0;
  for (size_t place = 0; place < count; place++) {
    uint64_t bits = mixed((uint64_t)index * 8 + place + ((uint64_t)1 << 40));
    if (place > 0) title[length++] = ' ';
    size_t start = length;
    length += make_word(title + length, word_number(bits % WORD_BITS, bits >> 8));
    title[start] -= 'a' - 'A';
  }
  return length;
}

size_t wanted_word(char word[32], size_t index) {
  uint64_t number = word_number(3 + index % 12, mixed(index + ((uint64_t)1 << 48)));
  while (true) {
    size_t length = make_word(word, number++);
    if (length > 3 && !strstr(word, ACCENT)) return length;
  }
}
