// libxxhash, compiled into the including file: short inputs are hashed without a call.
#define XXH_INLINE_ALL
#include <xxhash.h>
