// Searches and hints to the processor: see CShim.h.
#include "CShim.h"

void shim_prefetch(const void *address) { __builtin_prefetch(address); }

void shim_prefetch_lines(const void *address, int64_t count) {
  const char *line = address;
  for (; count > 0; count--, line += 64) __builtin_prefetch(line);
}

void shim_prefetch_both(const void *address, int64_t distance) {
  __builtin_prefetch(address);
  __builtin_prefetch((const char *)address + distance);
}

void shim_pause(void) {
#if defined(__x86_64__)
  __builtin_ia32_pause();
#elif defined(__aarch64__)
  __asm__ volatile("yield");
#endif
}

uint64_t shim_equal_bytes(const void *bytes, uint8_t value) {
#if defined(__x86_64__)
  typedef char vector __attribute__((vector_size(16)));
  vector all;
  __builtin_memcpy(&all, bytes, 16);
  vector equal = (vector)(all == (vector){0} + (char)value);
  return (uint16_t)__builtin_ia32_pmovmskb128(equal);
#else
  uint64_t found = 0;
  for (int index = 0; index < 16; index++)
    found |= (uint64_t)(((const uint8_t *)bytes)[index] == value) << index;
  return found;
#endif
}

int64_t shim_count_up_to(const int64_t *numbers, int64_t count, int64_t value) {
  const int64_t *base = numbers;
  int64_t left = count;
  while (left > 1) {
    int64_t half = left >> 1;
    __builtin_prefetch(base + (half >> 1) - 1);
    __builtin_prefetch(base + half + (half >> 1) - 1);
    base = __builtin_unpredictable(base[half - 1] <= value) ? base + half : base;
    left -= half;
  }
  return base - numbers + (left == 1 && *base <= value);
}

int64_t shim_count_pairs_below(const void *pairs, int64_t count, int64_t stride,
                               int64_t first, int64_t second) {
  typedef int64_t unaligned __attribute__((aligned(1)));
  const char *base = (const char *)pairs;
  int64_t below = 0;
  int64_t left = count;
  while (left > 0) {
    int64_t half = left > 1 ? left >> 1 : 1;
    const unaligned *pair = (const unaligned *)(base + (below + half - 1) * stride);
    int is_below = (pair[0] < first) | ((pair[0] == first) & (pair[1] < second));
    below = __builtin_unpredictable(is_below) ? below + half : below;
    left -= half;
  }
  return below;
}

#define SHIM_COUNT_BELOW(type)                                                                     \
  while (left > 0) {                                                                               \
    int64_t half = left > 1 ? left >> 1 : 1;                                                       \
    type number;                                                                                   \
    __builtin_memcpy(&number, base + (below + half - 1) * stride, sizeof number);                  \
    below = __builtin_unpredictable(number < value) ? below + half : below;                        \
    left -= half;                                                                                  \
  }

int64_t shim_count_below(const void *numbers, int64_t count, int64_t stride, int code,
                         uint64_t value) {
  const char *base = (const char *)numbers;
  int64_t below = 0;
  int64_t left = count;
  switch (code) {
  case 0: SHIM_COUNT_BELOW(uint8_t) break;
  case 1: SHIM_COUNT_BELOW(uint16_t) break;
  default: SHIM_COUNT_BELOW(uint32_t) break;
  }
  return below;
}
