#pragma once
// zlib and Brotli, for compressed metadata. The decoders of PNG and JPEG XL use the same libraries.

#include "../library.h"
#include <stdint.h>

#define SHIM_ZLIB_FUNCTIONS(each) \
    each(int, uncompress, \
        (unsigned char *output, unsigned long *output_bytes, const unsigned char *input, unsigned long bytes))
SHIM_DECLARED_LIBRARY(shim_zlib, SHIM_ZLIB_FUNCTIONS)
#define SHIM_BROTLI_FUNCTIONS(each) \
    each(int, BrotliDecoderDecompress, (size_t bytes, const uint8_t *input, size_t *output_bytes, uint8_t *output))
SHIM_DECLARED_LIBRARY(shim_brotli, SHIM_BROTLI_FUNCTIONS)
