#pragma once
// Macros for libraries that are loaded at their first use. The shims include this file and list the functions that they
// use.

#include <dlfcn.h>
#include <stddef.h>

// The field of a declared function, and its look-up.
#define SHIM_FIELD(name) __typeof__(&name) name;
#define SHIM_FIND(name) SHIM_FIND_AS(name, #name)
#define SHIM_FIND_AS(field, symbol) \
    table->field = (__typeof__(table->field))dlsym(library, symbol); \
    if (!table->field) return "it lacks " symbol;

// Defines the table of a library's functions, and a function that loads the library and fills the table. The library is
// never unloaded. The function returns NULL, or the reason of a failure, which is valid until the next call of dlopen.
#define SHIM_LIBRARY(type, fields, finds) \
    struct type { \
        fields \
    }; \
    static inline const char *type##_load(struct type *table, const char *name) { \
        void *library = dlopen(name, RTLD_NOW | RTLD_LOCAL | RTLD_NODELETE); \
        if (!library) return dlerror(); \
        finds \
        return NULL; \
    }

// The same for a library whose functions are declared here. The list has their results, names and parameters.
#define SHIM_DECLARE(result, name, parameters) result name parameters;
#define SHIM_DECLARED_FIELD(result, name, parameters) SHIM_FIELD(name)
#define SHIM_DECLARED_FIND(result, name, parameters) SHIM_FIND(name)
#define SHIM_DECLARED_LIBRARY(type, functions) \
    functions(SHIM_DECLARE) SHIM_LIBRARY(type, functions(SHIM_DECLARED_FIELD), functions(SHIM_DECLARED_FIND))

// Defines a repeated constant, and compares it with the header. The shims list the constants with their values.
#define SHIM_NUMBER(name, value) SHIM_##name = value,
#define SHIM_SAME(name, value) _Static_assert((int)SHIM_##name == (int)name, #name " is another");
