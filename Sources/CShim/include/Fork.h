// What a forked child must not keep of its parent: descriptors and maps of files on which the
// parent has locks. The kernel takes such locks for those of the open file, which a child shares;
// they would outlive the parent with any child that lives on, be it idle.
#ifndef REALM_FORK_H
#define REALM_FORK_H

#include <stddef.h>
#include <stdint.h>

/// Closes a descriptor in each child that is forked from now on; its number stays taken there.
/// Returns a number for `shim_forget_kept`, or -1 when there are too many.
int shim_keep_descriptor_from_children(int descriptor);
/// Puts zeros in the place of a map in each child that is forked from now on.
int shim_keep_map_from_children(void *base, size_t length);
/// Ends what has that number, before the descriptor is closed or the memory unmapped.
void shim_forget_kept(int number);

/// Counts forks from before they happen: what was opened while it stays the same is in no child.
uint64_t shim_forks_so_far(void);

#endif
