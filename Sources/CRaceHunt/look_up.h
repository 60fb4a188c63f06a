// Functions of other libraries, found by name; for the C sources here alone.
#ifndef RACE_HUNT_LOOK_UP_H
#define RACE_HUNT_LOOK_UP_H

#include <stdatomic.h>

/// What is noted in `found`, else the function of that name, as `dlsym` finds it.
__attribute__((visibility("hidden"))) void *race_hunt_look_up(
    void *_Atomic *found, void *where, const char *name);

#endif
