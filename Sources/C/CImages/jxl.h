#pragma once
// libjxl 0.7 and later.

#include "../library.h"
#include <stdint.h>

#ifndef JXL_DECODE_H_
typedef struct JxlDecoderStruct JxlDecoder;
typedef struct JxlMemoryManagerStruct JxlMemoryManager;
typedef struct {
    uint32_t num_channels;
    unsigned data_type, endianness;
    size_t align;
} JxlPixelFormat;
unsigned JxlDecoderGetColorAsICCProfile(void);
unsigned JxlDecoderGetICCProfileSize(void);
#endif

#define SHIM_JXL_NUMBERS(each) \
    each(JXL_COLOR_PROFILE_TARGET_DATA, 1) \
    each(JXL_DEC_COLOR_ENCODING, 0x100) \
    each(JXL_DEC_FULL_IMAGE, 0x1000) \
    each(JXL_DEC_NEED_IMAGE_OUT_BUFFER, 5) \
    each(JXL_DEC_NEED_MORE_INPUT, 2) \
    each(JXL_DEC_SUCCESS, 0) \
    each(JXL_TYPE_UINT8, 2)
enum { SHIM_JXL_NUMBERS(SHIM_NUMBER) };

#define SHIM_JXL_FUNCTIONS(each) \
    each(JxlDecoder *, JxlDecoderCreate, (const JxlMemoryManager *memory)) \
    each(void, JxlDecoderDestroy, (JxlDecoder *decoder)) \
    each(unsigned, JxlDecoderFlushImage, (JxlDecoder *decoder)) \
    each(unsigned, JxlDecoderImageOutBufferSize, \
        (const JxlDecoder *decoder, const JxlPixelFormat *format, size_t *bytes)) \
    each(unsigned, JxlDecoderProcessInput, (JxlDecoder *decoder)) \
    each(unsigned, JxlDecoderSetImageOutBuffer, \
        (JxlDecoder *decoder, const JxlPixelFormat *format, void *pixels, size_t bytes)) \
    each(unsigned, JxlDecoderSetInput, (JxlDecoder *decoder, const uint8_t *file, size_t bytes)) \
    each(unsigned, JxlDecoderSetUnpremultiplyAlpha, (JxlDecoder *decoder, int divides)) \
    each(unsigned, JxlDecoderSubscribeEvents, (JxlDecoder *decoder, int events)) \
    each(uint32_t, JxlDecoderVersion, (void))
// The functions whose parameters differ.
#define SHIM_JXL_OTHERS(each) each(JxlDecoderGetColorAsICCProfile) each(JxlDecoderGetICCProfileSize)
SHIM_JXL_FUNCTIONS(SHIM_DECLARE)
SHIM_LIBRARY(
    shim_jxl, SHIM_JXL_FUNCTIONS(SHIM_DECLARED_FIELD) SHIM_JXL_OTHERS(SHIM_FIELD),
    SHIM_JXL_FUNCTIONS(SHIM_DECLARED_FIND) SHIM_JXL_OTHERS(SHIM_FIND))

// The profile of the decoded pixels: its size, and its bytes if there is a buffer. Version 0.9 removed the second
// parameter of both functions. Returns 0 if there is no profile.
static inline size_t shim_jxl_profile(const struct shim_jxl *f, JxlDecoder *decoder, void *profile, size_t bytes) {
    size_t count = 0;
    unsigned target = SHIM_JXL_COLOR_PROFILE_TARGET_DATA, status;
    if (f->JxlDecoderVersion() < 9000) {
        typedef unsigned (*count_function)(JxlDecoder *, void *, unsigned, size_t *);
        typedef unsigned (*profile_function)(JxlDecoder *, void *, unsigned, void *, size_t);
        status = profile
            ? ((profile_function)(void *)f->JxlDecoderGetColorAsICCProfile)(decoder, NULL, target, profile, bytes)
            : ((count_function)(void *)f->JxlDecoderGetICCProfileSize)(decoder, NULL, target, &count);
    } else {
        typedef unsigned (*count_function)(JxlDecoder *, unsigned, size_t *);
        typedef unsigned (*profile_function)(JxlDecoder *, unsigned, void *, size_t);
        status = profile
            ? ((profile_function)(void *)f->JxlDecoderGetColorAsICCProfile)(decoder, target, profile, bytes)
            : ((count_function)(void *)f->JxlDecoderGetICCProfileSize)(decoder, target, &count);
    }
    if (status != SHIM_JXL_DEC_SUCCESS) return 0;
    return profile ? bytes : count;
}

#ifdef JXL_DECODE_H_
SHIM_JXL_NUMBERS(SHIM_SAME)
#endif
