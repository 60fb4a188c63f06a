#define _GNU_SOURCE
#include "CPeersShim.h"

#include <sqlite3.h>
#include <unistd.h>

int peers_configure_sqlite(void) {
  int result = sqlite3_config(SQLITE_CONFIG_MEMSTATUS, 0);
  return result != SQLITE_OK ? result : sqlite3_config(SQLITE_CONFIG_MULTITHREAD);
}

int peers_drop_lookaside(void *connection) {
  return sqlite3_db_config((sqlite3 *)connection, SQLITE_DBCONFIG_LOOKASIDE, (void *)0, 0, 0);
}

int peers_sync_file_system(int descriptor) { return syncfs(descriptor); }
