#pragma once
// libheif, for HEIC and AVIF.

#include "../library.h"
#include <stdint.h>

#ifndef LIBHEIF_HEIF_H
struct heif_error {
    unsigned code, subcode;
    const char *message;
};
struct heif_color_profile_nclx {
    uint8_t version;
    unsigned color_primaries, transfer_characteristics, matrix_coefficients;
    uint8_t full_range_flag;
    float red[2], green[2], blue[2], white[2];
};
struct heif_context;
struct heif_image_handle;
struct heif_image;
struct heif_init_params;
struct heif_reading_options;
struct heif_decoding_options;
#endif

#define SHIM_HEIF_NUMBERS(each) \
    each(heif_channel_interleaved, 10) \
    each(heif_chroma_interleaved_RGBA, 11) \
    each(heif_colorspace_RGB, 1) \
    each(heif_error_Memory_allocation_error, 6) \
    each(heif_error_Unsupported_feature, 4) \
    each(heif_error_Unsupported_filetype, 3)
enum { SHIM_HEIF_NUMBERS(SHIM_NUMBER) };

#define SHIM_HEIF_FUNCTIONS(each) \
    each(struct heif_context *, heif_context_alloc, (void)) \
    each(void, heif_context_free, (struct heif_context *context)) \
    each(struct heif_error, heif_context_get_primary_image_handle, \
        (struct heif_context *context, struct heif_image_handle **handle)) \
    each(struct heif_error, heif_context_read_from_memory_without_copy, \
        (struct heif_context *context, const void *file, size_t bytes, const struct heif_reading_options *options)) \
    each(struct heif_error, heif_decode_image, \
        (const struct heif_image_handle *handle, struct heif_image **image, unsigned colorspace, unsigned chroma, \
        const struct heif_decoding_options *options)) \
    each(int, heif_image_get_height, (const struct heif_image *image, unsigned channel)) \
    each(uint8_t *, heif_image_get_plane, (struct heif_image *image, unsigned channel, int *stride)) \
    each(int, heif_image_get_width, (const struct heif_image *image, unsigned channel)) \
    each(int, heif_image_handle_get_height, (const struct heif_image_handle *handle)) \
    each(struct heif_error, heif_image_handle_get_nclx_color_profile, \
        (const struct heif_image_handle *handle, struct heif_color_profile_nclx **profile)) \
    each(struct heif_error, heif_image_handle_get_raw_color_profile, \
        (const struct heif_image_handle *handle, void *profile)) \
    each(size_t, heif_image_handle_get_raw_color_profile_size, (const struct heif_image_handle *handle)) \
    each(int, heif_image_handle_get_width, (const struct heif_image_handle *handle)) \
    each(void, heif_image_handle_release, (const struct heif_image_handle *handle)) \
    each(int, heif_image_is_premultiplied_alpha, (struct heif_image *image)) \
    each(void, heif_image_release, (const struct heif_image *image)) \
    each(struct heif_error, heif_init, (struct heif_init_params *parameters)) \
    each(void, heif_nclx_color_profile_free, (struct heif_color_profile_nclx *profile))
SHIM_DECLARED_LIBRARY(shim_heif, SHIM_HEIF_FUNCTIONS)

#ifdef LIBHEIF_HEIF_H
SHIM_HEIF_NUMBERS(SHIM_SAME)
_Static_assert(sizeof(struct heif_error) == 16, "heif_error is another");
_Static_assert(offsetof(struct heif_color_profile_nclx, transfer_characteristics) == 8, "The profile is another");
#endif
