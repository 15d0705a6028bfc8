#pragma once
#include <sqlite3.h>

// A cast of -1 to a function pointer, which Swift does not import: SQLite copies the bytes before the call returns.
static inline int shim_sqlite3_bind_text(sqlite3_stmt *statement, int index, const char *text, int size) {
    return sqlite3_bind_text(statement, index, text, size, SQLITE_TRANSIENT);
}
static inline int shim_sqlite3_bind_blob(sqlite3_stmt *statement, int index, const void *bytes, int size) {
    return sqlite3_bind_blob(statement, index, bytes, size, SQLITE_TRANSIENT);
}
