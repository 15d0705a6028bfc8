#pragma once
#include <sqlite3.h>

// Disables the bulk allocation of page cache memory, which permanently takes 87 kB per connection. Must be called
// before any other function of SQLite. Swift does not import the variadic sqlite3_config.
static inline int shim_sqlite3_allocate_pages_one_by_one(void) {
    return sqlite3_config(SQLITE_CONFIG_PAGECACHE, (void *)0, 0, 0);
}

// SQLITE_TRANSIENT, which makes SQLite copy the bytes before the call returns, is a cast of -1 to a function pointer,
// which Swift does not import.
static inline int shim_sqlite3_bind_text(sqlite3_stmt *statement, int index, const char *text, int size) {
    return sqlite3_bind_text(statement, index, text, size, SQLITE_TRANSIENT);
}
static inline int shim_sqlite3_bind_blob(sqlite3_stmt *statement, int index, const void *bytes, int size) {
    return sqlite3_bind_blob(statement, index, bytes, size, SQLITE_TRANSIENT);
}
