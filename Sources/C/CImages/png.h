#pragma once
// libpng. It reports errors with longjmp(3), which must not skip Swift code, so its calls are made here. Its simplified
// interface needs memory for the whole image, and converts colors even if the file has a profile.

#include "../library.h"
#include <setjmp.h>
#include <stdint.h>
#include <stdio.h>

#ifndef PNG_H
typedef struct png_struct_def png_struct;
typedef struct png_info_def png_info;
typedef void (*png_error_ptr)(png_struct *, const char *);
typedef void (*png_longjmp_ptr)(jmp_buf, int);
typedef struct {
    void *opaque;
    uint32_t version, width, height, format, flags, colormap_entries, warning_or_error;
    char message[64];
} png_image;
#endif

#define SHIM_PNG_FUNCTIONS(each) \
    each(png_info *, png_create_info_struct, (const png_struct *png)) \
    each(png_struct *, png_create_read_struct, \
        (const char *version, void *context, png_error_ptr error, png_error_ptr warning)) \
    each(void, png_destroy_read_struct, (png_struct **png, png_info **info, png_info **end)) \
    each(unsigned char, png_get_bit_depth, (const png_struct *png, const png_info *info)) \
    each(unsigned char, png_get_color_type, (const png_struct *png, const png_info *info)) \
    each(uint32_t, png_get_iCCP, \
        (const png_struct *png, png_info *info, char **name, int *compression, unsigned char **profile, \
        uint32_t *bytes)) \
    each(uint32_t, png_get_image_height, (const png_struct *png, const png_info *info)) \
    each(uint32_t, png_get_image_width, (const png_struct *png, const png_info *info)) \
    each(size_t, png_get_rowbytes, (const png_struct *png, const png_info *info)) \
    each(int, png_image_write_to_stdio, \
        (png_image *image, FILE *file, int converts, const void *pixels, int32_t stride, const void *colors)) \
    each(void, png_init_io, (png_struct *png, FILE *file)) \
    each(void, png_read_info, (png_struct *png, png_info *info)) \
    each(void, png_read_row, (png_struct *png, unsigned char *row, unsigned char *display)) \
    each(void, png_read_update_info, (png_struct *png, png_info *info)) \
    each(void, png_set_add_alpha, (png_struct *png, uint32_t alpha, int flags)) \
    each(void, png_set_chunk_malloc_max, (png_struct *png, size_t bytes)) \
    each(void, png_set_compression_buffer_size, (png_struct *png, size_t bytes)) \
    each(void, png_set_expand, (png_struct *png)) \
    each(void, png_set_gray_to_rgb, (png_struct *png)) \
    each(int, png_set_interlace_handling, (png_struct *png)) \
    each(jmp_buf *, png_set_longjmp_fn, (png_struct *png, png_longjmp_ptr function, size_t bytes)) \
    each(void, png_set_swap, (png_struct *png)) \
    each(void, png_set_user_limits, (png_struct *png, uint32_t width, uint32_t height))
SHIM_DECLARED_LIBRARY(shim_png, SHIM_PNG_FUNCTIONS)

#define SHIM_PNG_NUMBERS(each) \
    each(PNG_COLOR_MASK_COLOR, 2) \
    each(PNG_FORMAT_BGR, 0x12) \
    each(PNG_FORMAT_BGRA, 0x13) \
    each(PNG_IMAGE_VERSION, 1)
enum { SHIM_PNG_NUMBERS(SHIM_NUMBER) };

// An image that is being read. Its rows have four channels, red, green, blue and alpha, of one byte or two.
struct shim_png_image {
    // Set by the caller; the other fields are zeros before shim_png_open.
    const struct shim_png *functions;
    png_struct *png;
    png_info *info;
    FILE *stream;
    uint32_t width, height;
    int depth;
    // 0 for shades of gray.
    int has_color;
    // The number of times that all rows are read. The passes of an interlaced image complete its rows in another order.
    int passes;
    const unsigned char *profile;
    uint32_t profile_bytes;
};

enum { SHIM_PNG_READ, SHIM_PNG_DAMAGED, SHIM_PNG_NO_MEMORY };

// Reads the header of an image in memory, whose pixels are read byte by byte if `reads_bytes` is not 0. Returns one of
// the results above; shim_png_close follows in any case.
static inline int shim_png_open(struct shim_png_image *image, const void *file, size_t bytes, int reads_bytes) {
    const struct shim_png *f = image->functions;
    // The library compares the first two numbers with its own version.
    png_struct *png = f->png_create_read_struct("1.6.0", NULL, NULL, NULL);
    png_info *info = png ? f->png_create_info_struct(png) : NULL;
    FILE *stream = fmemopen((void *)file, bytes, "r");
    image->png = png;
    image->info = info;
    image->stream = stream;
    if (!info || !stream) return SHIM_PNG_NO_MEMORY;
    if (setjmp(*f->png_set_longjmp_fn(png, longjmp, sizeof(jmp_buf)))) return SHIM_PNG_DAMAGED;
    f->png_init_io(png, stream);
    f->png_set_user_limits(png, INT32_MAX, INT32_MAX);
    f->png_set_chunk_malloc_max(png, 16 << 20);
    if (reads_bytes) f->png_set_compression_buffer_size(png, 1);
    f->png_read_info(png, info);
    image->has_color = f->png_get_color_type(png, info) & SHIM_PNG_COLOR_MASK_COLOR;
    f->png_set_expand(png);
    f->png_set_gray_to_rgb(png);
    f->png_set_add_alpha(png, 0xffff, 1);
    image->depth = f->png_get_bit_depth(png, info) == 16 ? 16 : 8;
    if (image->depth == 16 && __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__) f->png_set_swap(png);
    image->passes = f->png_set_interlace_handling(png);
    char *name;
    int compression;
    unsigned char *profile = NULL;
    uint32_t profile_bytes = 0;
    f->png_get_iCCP(png, info, &name, &compression, &profile, &profile_bytes);
    image->profile = profile;
    image->profile_bytes = profile_bytes;
    f->png_read_update_info(png, info);
    image->width = f->png_get_image_width(png, info);
    image->height = f->png_get_image_height(png, info);
    size_t row_bytes = f->png_get_rowbytes(png, info);
    return row_bytes == (size_t)image->width * image->depth / 2 ? SHIM_PNG_READ : SHIM_PNG_DAMAGED;
}

// Reads the next row of a pass. Returns 0 if the image is damaged.
static inline int shim_png_read_row(const struct shim_png_image *image, void *row) {
    const struct shim_png *f = image->functions;
    if (setjmp(*f->png_set_longjmp_fn(image->png, longjmp, sizeof(jmp_buf)))) return 0;
    f->png_read_row(image->png, row, NULL);
    return 1;
}

static inline void shim_png_close(struct shim_png_image *image) {
    if (image->stream) fclose(image->stream);
    if (image->png) image->functions->png_destroy_read_struct(&image->png, &image->info, NULL);
}

#ifdef PNG_H
SHIM_PNG_NUMBERS(SHIM_SAME)
#endif
