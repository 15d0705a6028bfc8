#pragma once
// libjpeg-turbo: the TurboJPEG API 2, which version 3 also has. The libraries of this module are loaded only by the image
// helper. Their headers would require packages for the build, so the used declarations are repeated here; dist/test
// compares them with the headers.

#include "../library.h"

#ifndef __TURBOJPEG_H__
typedef void *tjhandle;
#endif

#define SHIM_JPEG_NUMBERS(each) \
    each(TJPF_RGBA, 7) \
    each(TJPF_CMYK, 11) \
    each(TJERR_WARNING, 0) \
    each(TJFLAG_LIMITSCANS, 32768)
enum { SHIM_JPEG_NUMBERS(SHIM_NUMBER) };

#define SHIM_JPEG_FUNCTIONS(each) \
    each(int, tjDecompress2, \
        (tjhandle handle, const unsigned char *file, unsigned long bytes, unsigned char *pixels, int width, \
        int pitch, int height, int format, int flags)) \
    each(int, tjDecompressHeader3, \
        (tjhandle handle, const unsigned char *file, unsigned long bytes, int *width, int *height, int *subsampling, \
        int *colors)) \
    each(int, tjDestroy, (tjhandle handle)) \
    each(int, tjGetErrorCode, (tjhandle handle)) \
    each(tjhandle, tjInitDecompress, (void))
SHIM_DECLARED_LIBRARY(shim_jpeg, SHIM_JPEG_FUNCTIONS)

#ifdef __TURBOJPEG_H__
SHIM_JPEG_NUMBERS(SHIM_SAME)
#endif
