#pragma once
// libtiff.

#include "../library.h"
#include <stdarg.h>
#include <stdint.h>
#include <string.h>
#include <sys/types.h>

#ifndef _TIFFIO_
typedef struct tiff TIFF;
typedef void *thandle_t;
typedef void (*TIFFErrorHandler)(const char *, const char *, va_list);
typedef ssize_t (*TIFFReadWriteProc)(thandle_t, void *, ssize_t);
typedef uint64_t (*TIFFSeekProc)(thandle_t, uint64_t, int);
typedef int (*TIFFCloseProc)(thandle_t);
typedef uint64_t (*TIFFSizeProc)(thandle_t);
typedef int (*TIFFMapFileProc)(thandle_t, void **, uint64_t *);
typedef void (*TIFFUnmapFileProc)(thandle_t, void *, uint64_t);
#endif

#define SHIM_TIFF_NUMBERS(each) \
    each(PHOTOMETRIC_MINISWHITE, 0) \
    each(PHOTOMETRIC_MINISBLACK, 1) \
    each(PHOTOMETRIC_RGB, 2) \
    each(PHOTOMETRIC_PALETTE, 3) \
    each(PHOTOMETRIC_SEPARATED, 5) \
    each(SAMPLEFORMAT_IEEEFP, 3) \
    each(PLANARCONFIG_CONTIG, 1) \
    each(TIFFTAG_BITSPERSAMPLE, 258) \
    each(TIFFTAG_COLORMAP, 320) \
    each(TIFFTAG_COMPRESSION, 259) \
    each(TIFFTAG_EXTRASAMPLES, 338) \
    each(TIFFTAG_ICCPROFILE, 34675) \
    each(TIFFTAG_IMAGELENGTH, 257) \
    each(TIFFTAG_IMAGEWIDTH, 256) \
    each(TIFFTAG_ORIENTATION, 274) \
    each(TIFFTAG_PHOTOMETRIC, 262) \
    each(TIFFTAG_PLANARCONFIG, 284) \
    each(TIFFTAG_SAMPLEFORMAT, 339) \
    each(TIFFTAG_SAMPLESPERPIXEL, 277) \
    each(TIFFTAG_STRIPBYTECOUNTS, 279) \
    each(TIFFTAG_STRIPOFFSETS, 273) \
    each(TIFFTAG_TILELENGTH, 323) \
    each(TIFFTAG_TILEWIDTH, 322) \
    each(TIFFTAG_WHITEPOINT, 318)
enum { SHIM_TIFF_NUMBERS(SHIM_NUMBER) };

#define SHIM_TIFF_FUNCTIONS(each) \
    each(TIFF *, TIFFClientOpen, \
        (const char *name, const char *mode, thandle_t file, TIFFReadWriteProc read, TIFFReadWriteProc write, \
        TIFFSeekProc seek, TIFFCloseProc close, TIFFSizeProc size, TIFFMapFileProc map, TIFFUnmapFileProc unmap)) \
    each(void, TIFFClose, (TIFF *tiff)) \
    each(int, TIFFGetField, (TIFF *tiff, uint32_t tag, ...)) \
    each(int, TIFFGetFieldDefaulted, (TIFF *tiff, uint32_t tag, ...)) \
    each(int, TIFFIsCODECConfigured, (uint16_t compression)) \
    each(int, TIFFIsTiled, (TIFF *tiff)) \
    each(int, TIFFRGBAImageOK, (TIFF *tiff, char message[1024])) \
    each(int, TIFFReadRGBAImageOriented, \
        (TIFF *tiff, uint32_t width, uint32_t height, uint32_t *pixels, int orientation, int stops)) \
    each(int, TIFFReadScanline, (TIFF *tiff, void *row, uint32_t number, uint16_t sample)) \
    each(ssize_t, TIFFReadTile, (TIFF *tiff, void *tile, uint32_t x, uint32_t y, uint32_t z, uint16_t sample)) \
    each(ssize_t, TIFFScanlineSize, (TIFF *tiff)) \
    each(TIFFErrorHandler, TIFFSetErrorHandler, (TIFFErrorHandler handler)) \
    each(int, TIFFSetField, (TIFF *tiff, uint32_t tag, ...)) \
    each(int, TIFFSetSubDirectory, (TIFF *tiff, uint64_t offset)) \
    each(TIFFErrorHandler, TIFFSetWarningHandler, (TIFFErrorHandler handler)) \
    each(ssize_t, TIFFTileRowSize, (TIFF *tiff))
SHIM_DECLARED_LIBRARY(shim_tiff, SHIM_TIFF_FUNCTIONS)

// A file in memory.
struct shim_tiff_file {
    const unsigned char *file;
    uint64_t bytes, offset;
};

static inline ssize_t shim_tiff_read_bytes(thandle_t file, void *bytes, ssize_t count) {
    struct shim_tiff_file *input = file;
    uint64_t rest = input->offset < input->bytes ? input->bytes - input->offset : 0;
    if (count < 0) return -1;
    if ((uint64_t)count > rest) count = (ssize_t)rest;
    memcpy(bytes, input->file + input->offset, (size_t)count);
    input->offset += (uint64_t)count;
    return count;
}

static inline ssize_t shim_tiff_refuse(thandle_t file, void *bytes, ssize_t count) {
    return -1;
}

static inline uint64_t shim_tiff_seek(thandle_t file, uint64_t offset, int whence) {
    struct shim_tiff_file *input = file;
    return input->offset = offset + (whence == 1 ? input->offset : whence == 2 ? input->bytes : 0);
}

static inline int shim_tiff_close(thandle_t file) {
    return 0;
}

static inline uint64_t shim_tiff_size(thandle_t file) {
    return ((struct shim_tiff_file *)file)->bytes;
}

static inline int shim_tiff_map(thandle_t file, void **bytes, uint64_t *count) {
    struct shim_tiff_file *input = file;
    *bytes = (void *)input->file;
    *count = input->bytes;
    return 1;
}

// Opens a file in memory. The library must map it: libtiff 4.5 cannot convert tiles to RGB that it copies, if their size
// is not a multiple of 1,024 bytes.
static inline TIFF *shim_tiff_open(const struct shim_tiff *f, struct shim_tiff_file *file) {
    f->TIFFSetErrorHandler(NULL);
    f->TIFFSetWarningHandler(NULL);
    return f->TIFFClientOpen(
        "photo", "r", file, shim_tiff_read_bytes, shim_tiff_refuse, shim_tiff_seek, shim_tiff_close, shim_tiff_size,
        shim_tiff_map, NULL);
}

// The value of a field with a number of 16 or 32 bits; 0 if it is missing. Variadic functions cannot be imported.
static inline uint32_t shim_tiff_number16(const struct shim_tiff *f, TIFF *tiff, uint32_t tag) {
    uint16_t value = 0;
    return f->TIFFGetFieldDefaulted(tiff, tag, &value) ? value : 0;
}

static inline uint32_t shim_tiff_number32(const struct shim_tiff *f, TIFF *tiff, uint32_t tag) {
    uint32_t value = 0;
    return f->TIFFGetField(tiff, tag, &value) ? value : 0;
}

// Ends the first strip at the end of a truncated file, so that the library decodes its rows up to there instead of none.
// Returns 1 if the strip is cut. The arrays are those that the library reads.
static inline int shim_tiff_cut(const struct shim_tiff *f, TIFF *tiff, const struct shim_tiff_file *file) {
    uint64_t *offsets = NULL, *counts = NULL;
    if (!f->TIFFGetField(tiff, SHIM_TIFFTAG_STRIPOFFSETS, &offsets) || !offsets || offsets[0] >= file->bytes) return 0;
    uint64_t rest = file->bytes - offsets[0];
    if (!f->TIFFGetField(tiff, SHIM_TIFFTAG_STRIPBYTECOUNTS, &counts) || !counts || counts[0] <= rest) return 0;
    counts[0] = rest;
    return 1;
}

// Makes the white of sRGB that of the image. The library does not adapt colors of CIE L*a*b*, whose white is usually
// that of D50, which is yellow in sRGB.
static inline void shim_tiff_set_white(const struct shim_tiff *f, TIFF *tiff) {
    const float white[2] = {0.3127f, 0.3290f};
    f->TIFFSetField(tiff, SHIM_TIFFTAG_WHITEPOINT, white);
}

// The kind of the first extra channel; 0 if there is none.
static inline unsigned shim_tiff_extra(const struct shim_tiff *f, TIFF *tiff) {
    uint16_t count = 0, *kinds = NULL;
    return f->TIFFGetField(tiff, SHIM_TIFFTAG_EXTRASAMPLES, &count, &kinds) && count > 0 ? kinds[0] : 0;
}

// The parts of the colors of a palette, whose indexes are scaled to 8 bits: those of red precede those of green and blue.
// Returns 0 if there is none.
static inline int shim_tiff_palette(const struct shim_tiff *f, TIFF *tiff, int bits, uint8_t parts[768]) {
    uint16_t *colors[3] = {NULL, NULL, NULL};
    if (!f->TIFFGetField(tiff, SHIM_TIFFTAG_COLORMAP, &colors[0], &colors[1], &colors[2]) || !colors[0] || !colors[1]
        || !colors[2])
        return 0;
    int count = 1 << bits, step = 255 / (count - 1), shift = 0;
    // Some programs write parts of 8 bits.
    for (int i = 0; i < 3 * count; i++) {
        if (colors[i / count][i % count] > 255) shift = 8;
    }
    for (int i = 0; i < 3 * count; i++)
        parts[i / count * 256 + i % count * step] = (uint8_t)(colors[i / count][i % count] >> shift);
    return 1;
}

static inline const void *shim_tiff_profile(const struct shim_tiff *f, TIFF *tiff, uint32_t *bytes) {
    void *profile = NULL;
    return f->TIFFGetField(tiff, SHIM_TIFFTAG_ICCPROFILE, bytes, &profile) ? profile : NULL;
}

#ifdef _TIFFIO_
SHIM_TIFF_NUMBERS(SHIM_SAME)
#endif
