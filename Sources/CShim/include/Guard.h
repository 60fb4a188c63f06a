// Maps of files that somebody else may cut, or whose disk may fail: a touch of a page that is not
// there is a SIGBUS, which says nothing. Whoever does it in one of these maps is stopped by words
// that name the file instead.
#ifndef REALM_GUARD_H
#define REALM_GUARD_H

#include <stddef.h>

/// Names a map, which begins with the first byte of its file. Returns a number for
/// `shim_end_guard`, or -1 when there are too many or no memory: then it is a plain SIGBUS.
int shim_guard_map(const void *base, size_t length, const char *path);
/// Ends what has that number, before the memory is unmapped.
void shim_end_guard(int number);

#endif
