#pragma once
#include <sqlite3.h>

// Variadic, which Swift does not import. Without it each connection takes 87 kB for its first pages, and keeps them. Before anything else is called.
static inline int shim_sqlite3_allocate_pages_one_by_one(void) {
    return sqlite3_config(SQLITE_CONFIG_PAGECACHE, (void *)0, 0, 0);
}

// A cast of -1 to a function pointer, which Swift does not import: SQLite copies the bytes before the call returns.
static inline int shim_sqlite3_bind_text(sqlite3_stmt *statement, int index, const char *text, int size) {
    return sqlite3_bind_text(statement, index, text, size, SQLITE_TRANSIENT);
}
static inline int shim_sqlite3_bind_blob(sqlite3_stmt *statement, int index, const void *bytes, int size) {
    return sqlite3_bind_blob(statement, index, bytes, size, SQLITE_TRANSIENT);
}
