#pragma once
// dist/build defines the macro. Swift code can be compiled neither with a string nor with such a macro.
#ifndef IMAGEFEED_HOMEPAGE
#define IMAGEFEED_HOMEPAGE ""
#endif
static inline const char *shim_homepage(void) { return IMAGEFEED_HOMEPAGE; }
