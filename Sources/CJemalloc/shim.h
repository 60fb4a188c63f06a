// Linking this module replaces malloc with jemalloc; mallctl reads its statistics.
#include <jemalloc/jemalloc.h>
