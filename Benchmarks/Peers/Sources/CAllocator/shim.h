// Linking this module replaces malloc with jemalloc.
#include <jemalloc/jemalloc.h>
