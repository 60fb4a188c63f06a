// Calls of the C library on processes that Swift cannot make: GNU extensions and variadic ones.
#ifndef CPROCESS_H
#define CPROCESS_H

#include <stdint.h>

/// The processors that the calling thread may use: one bit each in `bits`, of `bytes` bytes.
/// Returns 0, or the number of the error.
int process_get_processors(uint8_t *bits, int bytes);

/// Sets them, for the calling thread and all that it starts from then on.
int process_set_processors(const uint8_t *bits, int bytes);

/// Has the kernel let this process go on, if somebody has stopped it, when the thread that has
/// started it ends.
void process_go_on_without_parent(void);

#endif
