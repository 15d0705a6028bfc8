#pragma once
// libcrypt, loaded when the first password is given: who has none does not pay for it. There are two of it, whose
// names differ, so it is not linked, and what is used of it is declared here; dist/test holds it against the header.

#include <dlfcn.h>
#include <stddef.h>

enum {
    // Of a phrase, with the NUL at its end
    SHIM_CRYPT_MAX_PASSPHRASE_SIZE = 512,
    SHIM_CRYPT_GENSALT_OUTPUT_SIZE = 192,
    // Of struct crypt_data
    SHIM_CRYPT_DATA_SIZE = 32768,
};

char *crypt_gensalt_rn(
    const char *prefix, unsigned long cost, const char *random, int random_size, char *output, int output_size);
char *crypt_rn(const char *phrase, const char *setting, void *data, int size);

struct shim_crypt {
    __typeof__(&crypt_gensalt_rn) gensalt;
    __typeof__(&crypt_rn) crypt;
};

// Fills the table; the library stays for good. NULL, or why not: valid until the next call of dlopen.
static inline const char *shim_crypt_load(struct shim_crypt *functions, const char *name) {
    void *library = dlopen(name, RTLD_NOW | RTLD_LOCAL | RTLD_NODELETE);
    if (!library) return dlerror();
    functions->gensalt = (__typeof__(functions->gensalt))dlsym(library, "crypt_gensalt_rn");
    functions->crypt = (__typeof__(functions->crypt))dlsym(library, "crypt_rn");
    // That of glibc, before it was given up, has neither this nor yescrypt.
    return functions->gensalt && functions->crypt ? NULL : "it is too old";
}

#ifdef _CRYPT_H
_Static_assert((int)SHIM_CRYPT_MAX_PASSPHRASE_SIZE == CRYPT_MAX_PASSPHRASE_SIZE, "passphrases are other");
_Static_assert((int)SHIM_CRYPT_GENSALT_OUTPUT_SIZE == CRYPT_GENSALT_OUTPUT_SIZE, "settings are other");
_Static_assert((int)SHIM_CRYPT_DATA_SIZE == sizeof(struct crypt_data), "struct crypt_data is another");
#endif
