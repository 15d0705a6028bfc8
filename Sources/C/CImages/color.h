#pragma once
// Little CMS 2.

#include "../library.h"
#include <stdint.h>

#ifndef _lcms2_H
typedef struct _cmsContext_struct *cmsContext;
typedef void *cmsHPROFILE;
typedef void *cmsHTRANSFORM;
typedef struct _cms_curve_struct cmsToneCurve;
typedef struct {
    double x, y, Y;
} cmsCIExyY;
typedef struct {
    cmsCIExyY Red, Green, Blue;
} cmsCIExyYTRIPLE;
#endif

// Types with four channels of one byte or two; the fourth one is ignored, except for the inks.
#define SHIM_COLOR_NUMBERS(each) \
    each(INTENT_PERCEPTUAL, 0) \
    each(cmsFLAGS_NOCACHE, 0x0040) \
    each(cmsSigCmykData, 0x434D594B) \
    each(cmsSigGrayData, 0x47524159) \
    each(cmsSigRgbData, 0x52474220) \
    each(TYPE_RGBA_8, 4 << 16 | 1 << 7 | 3 << 3 | 1) \
    each(TYPE_RGBA_16, 4 << 16 | 1 << 7 | 3 << 3 | 2) \
    each(TYPE_BGRA_8, 4 << 16 | 1 << 14 | 1 << 10 | 1 << 7 | 3 << 3 | 1) \
    each(TYPE_CMYK_8, 6 << 16 | 4 << 3 | 1) \
    each(TYPE_CMYK_16, 6 << 16 | 4 << 3 | 2)
enum { SHIM_COLOR_NUMBERS(SHIM_NUMBER) };

// Gray in the first of four channels, and a channel that is ignored.
enum {
    SHIM_GRAY_OF_FOUR_8 = 3 << 16 | 3 << 7 | 1 << 3 | 1,
    SHIM_GRAY_OF_FOUR_16 = 3 << 16 | 3 << 7 | 1 << 3 | 2,
    SHIM_EXTRA_CHANNEL = 1 << 7,
};

#define SHIM_COLOR_FUNCTIONS(each) \
    each(cmsToneCurve *, cmsBuildTabulatedToneCurve16, (cmsContext context, uint32_t count, const uint16_t *values)) \
    each(int, cmsCloseProfile, (cmsHPROFILE profile)) \
    each(cmsHPROFILE, cmsCreateRGBProfile, \
        (const cmsCIExyY *white, const cmsCIExyYTRIPLE *primaries, cmsToneCurve *const curves[3])) \
    each(cmsHPROFILE, cmsCreate_sRGBProfile, (void)) \
    each(cmsHTRANSFORM, cmsCreateTransform, \
        (cmsHPROFILE input, uint32_t input_format, cmsHPROFILE output, uint32_t output_format, uint32_t intent, \
        uint32_t flags)) \
    each(void, cmsDeleteTransform, (cmsHTRANSFORM transform)) \
    each(void, cmsDoTransform, (cmsHTRANSFORM transform, const void *input, void *output, uint32_t count)) \
    each(void, cmsFreeToneCurve, (cmsToneCurve *curve)) \
    each(unsigned, cmsGetColorSpace, (cmsHPROFILE profile)) \
    each(cmsHPROFILE, cmsOpenProfileFromMem, (const void *profile, uint32_t bytes))
SHIM_DECLARED_LIBRARY(shim_color, SHIM_COLOR_FUNCTIONS)

#ifdef _lcms2_H
SHIM_COLOR_NUMBERS(SHIM_SAME)
#endif
