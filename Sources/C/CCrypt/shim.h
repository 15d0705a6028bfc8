#pragma once
// libcrypt, loaded at the first use of a password, so that a daemon without passwords does not load it. The library has
// one of two file names (libcrypt.so.2 and libcrypt.so.1). The program therefore does not link to it, and the used
// declarations are repeated here; dist/test compares them with the header.

#include <dlfcn.h>
#include <stddef.h>

enum {
    // The size of a phrase with its NUL terminator
    SHIM_CRYPT_MAX_PASSPHRASE_SIZE = 512,
    SHIM_CRYPT_GENSALT_OUTPUT_SIZE = 192,
    // The size of struct crypt_data
    SHIM_CRYPT_DATA_SIZE = 32768,
};

char *crypt_gensalt_rn(
    const char *prefix, unsigned long cost, const char *random, int random_size, char *output, int output_size);
char *crypt_rn(const char *phrase, const char *setting, void *data, int size);

struct shim_crypt {
    __typeof__(&crypt_gensalt_rn) gensalt;
    __typeof__(&crypt_rn) crypt;
};

// Loads the library and fills the table. The library is never unloaded. Returns NULL, or the reason of a failure, which
// is valid until the next call of dlopen.
static inline const char *shim_crypt_load(struct shim_crypt *functions, const char *name) {
    void *library = dlopen(name, RTLD_NOW | RTLD_LOCAL | RTLD_NODELETE);
    if (!library) return dlerror();
    functions->gensalt = (__typeof__(functions->gensalt))dlsym(library, "crypt_gensalt_rn");
    functions->crypt = (__typeof__(functions->crypt))dlsym(library, "crypt_rn");
    // The former libcrypt of glibc lacks these functions and yescrypt.
    return functions->gensalt && functions->crypt ? NULL : "it is too old";
}

#ifdef _CRYPT_H
_Static_assert((int)SHIM_CRYPT_MAX_PASSPHRASE_SIZE == CRYPT_MAX_PASSPHRASE_SIZE, "passphrases are other");
_Static_assert((int)SHIM_CRYPT_GENSALT_OUTPUT_SIZE == CRYPT_GENSALT_OUTPUT_SIZE, "settings are other");
_Static_assert((int)SHIM_CRYPT_DATA_SIZE == sizeof(struct crypt_data), "struct crypt_data is another");
#endif
