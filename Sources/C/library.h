#pragma once
// Libraries that are loaded when they are first needed. Included by the shims, which list what is used of them.

#include <dlfcn.h>
#include <stddef.h>

// The field of a function that has a declaration, and its look-up.
#define SHIM_FIELD(name) __typeof__(&name) name;
#define SHIM_FIND(name) SHIM_FIND_AS(name, #name)
#define SHIM_FIND_AS(field, symbol) \
    table->field = (__typeof__(table->field))dlsym(library, symbol); \
    if (!table->field) return "it lacks " symbol;

// Defines the table of a library's functions, and a function that fills it; the library stays for good. The function
// returns NULL, or the reason of a failure: valid until the next call of dlopen.
#define SHIM_LIBRARY(type, functions, declare, find) \
    struct type { \
        functions(declare) \
    }; \
    static inline const char *type##_load(struct type *table, const char *name) { \
        void *library = dlopen(name, RTLD_NOW | RTLD_LOCAL | RTLD_NODELETE); \
        if (!library) return dlerror(); \
        functions(find) \
        return NULL; \
    }
