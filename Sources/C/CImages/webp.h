#pragma once
// libwebp.

#include "../library.h"
#include <stdint.h>

// The declarations of the interface 0x0209. The library checks this number when it fills the structure.
#ifndef WEBP_WEBP_DECODE_H_
enum { WEBP_DECODER_ABI_VERSION = 0x0209 };
typedef struct {
    int width, height, has_alpha, has_animation, format;
    uint32_t pad[5];
} WebPBitstreamFeatures;
typedef struct {
    unsigned colorspace;
    int width, height, is_external_memory;
    union {
        struct {
            uint8_t *rgba;
            int stride;
            size_t size;
        } RGBA;
        struct {
            uint8_t *y, *u, *v, *a;
            int y_stride, u_stride, v_stride, a_stride;
            size_t y_size, u_size, v_size, a_size;
        } YUVA;
    } u;
    uint32_t pad[4];
    uint8_t *private_memory;
} WebPDecBuffer;
typedef struct {
    int bypass_filtering, no_fancy_upsampling, use_cropping, crop_left, crop_top, crop_width, crop_height, use_scaling,
        scaled_width, scaled_height, use_threads, dithering_strength, flip, alpha_dithering_strength;
    uint32_t pad[5];
} WebPDecoderOptions;
typedef struct {
    WebPBitstreamFeatures input;
    WebPDecBuffer output;
    WebPDecoderOptions options;
} WebPDecoderConfig;
#endif

typedef struct WebPIDecoder WebPIDecoder;

#define SHIM_WEBP_NUMBERS(each) \
    each(MODE_RGBA, 1) \
    each(VP8_STATUS_OK, 0) \
    each(VP8_STATUS_OUT_OF_MEMORY, 1)
enum { SHIM_WEBP_NUMBERS(SHIM_NUMBER) };

#define SHIM_WEBP_FUNCTIONS(each) \
    each(unsigned, WebPDecode, (const uint8_t *file, size_t bytes, WebPDecoderConfig *config)) \
    each(unsigned, WebPGetFeaturesInternal, \
        (const uint8_t *file, size_t bytes, WebPBitstreamFeatures *features, int version)) \
    each(int, WebPInitDecoderConfigInternal, (WebPDecoderConfig *config, int version)) \
    each(WebPIDecoder *, WebPIDecode, (const uint8_t *file, size_t bytes, WebPDecoderConfig *config)) \
    each(unsigned, WebPIUpdate, (WebPIDecoder *decoder, const uint8_t *file, size_t bytes)) \
    each(uint8_t *, WebPIDecGetRGB, (const WebPIDecoder *decoder, int *end, int *width, int *height, int *stride)) \
    each(void, WebPIDelete, (WebPIDecoder *decoder))
SHIM_DECLARED_LIBRARY(shim_webp, SHIM_WEBP_FUNCTIONS)

#ifdef WEBP_WEBP_DECODE_H_
SHIM_WEBP_NUMBERS(SHIM_SAME)
_Static_assert(WEBP_DECODER_ABI_VERSION >> 8 == 2, "The structures may be others");
_Static_assert(sizeof(WebPDecoderConfig) == 240, "The structures are others");
#endif
