#pragma once
// dist/build defines the macro. Swift code can be compiled neither with a string nor with such a macro.
#ifndef IMAGEFEED_HOMEPAGE
#define IMAGEFEED_HOMEPAGE ""
#endif
// dist/build links an object file with the version of the build.
extern const char imagefeed_version[] __attribute__((weak));
static inline const char *shim_version(void) { return imagefeed_version ? imagefeed_version : ""; }
static inline const char *shim_homepage(void) { return IMAGEFEED_HOMEPAGE; }
