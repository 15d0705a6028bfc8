#pragma once
// dist/build defines it. Swift code cannot be compiled with a string.
#ifndef IMAGEFEED_HOMEPAGE
#define IMAGEFEED_HOMEPAGE ""
#endif
