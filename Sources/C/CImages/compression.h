#pragma once
// zlib and Brotli, for compressed metadata. The decoders of PNG and JPEG XL use the same libraries.

#include "../library.h"
#include <stdint.h>

#ifndef ZLIB_H
int uncompress(unsigned char *output, unsigned long *output_bytes, const unsigned char *input, unsigned long bytes);
#endif
#ifndef BROTLI_DEC_DECODE_H_
int BrotliDecoderDecompress(size_t bytes, const uint8_t *input, size_t *output_bytes, uint8_t *output);
#endif

#define SHIM_ZLIB_FUNCTIONS(each) each(uncompress)
SHIM_LIBRARY(shim_zlib, SHIM_ZLIB_FUNCTIONS, SHIM_FIELD, SHIM_FIND)
#define SHIM_BROTLI_FUNCTIONS(each) each(BrotliDecoderDecompress)
SHIM_LIBRARY(shim_brotli, SHIM_BROTLI_FUNCTIONS, SHIM_FIELD, SHIM_FIND)
