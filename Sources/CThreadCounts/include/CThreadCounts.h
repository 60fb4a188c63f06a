// What the calling thread has done so far, counted beside the clock: calls that allocate memory, by
// standing in for these functions of the C library, and instructions, by the processor's counter.
#ifndef CTHREADCOUNTS_H
#define CTHREADCOUNTS_H

#include <stdint.h>

/// How often the calling thread has called malloc, calloc, realloc, aligned_alloc, memalign or
/// posix_memalign; those that have failed count, too.
uint64_t thread_allocations(void);

/// Whether calls of the C library itself are counted, and so those of all other libraries: 0 with a
/// sanitizer, which has to stand in for these functions alone, and where another definition comes
/// first.
int thread_allocations_are_counted(void);

/// Begins to count the instructions of the calling thread in user mode. Returns 0, or the number of
/// the error; where the counter cannot be read without a call of the system, EOPNOTSUPP.
int thread_instructions_begin(void);

/// Ends that.
void thread_instructions_end(void);

/// Instructions of the calling thread since some moment before; 0 when they are not counted.
uint64_t thread_instructions(void);

#endif
