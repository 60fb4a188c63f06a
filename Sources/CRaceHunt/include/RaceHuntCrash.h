// What happens when an explored program crashes: the schedule is told before the process ends.
#ifndef RACE_HUNT_CRASH_H
#define RACE_HUNT_CRASH_H

#include <stddef.h>

/// Has `report` called on the thread that crashes, if it runs an explored program, before what
/// would have happened otherwise does. To be called once.
void race_hunt_report_crashes(void (*report)(int signal));

/// Gives the calling thread a stack of its own for the report: its own may be used up.
void race_hunt_prepare_crash(void);

/// Writes to the standard error output.
void race_hunt_write_error(const char *text, size_t length);

#endif
