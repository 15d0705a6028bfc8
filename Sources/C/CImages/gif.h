#pragma once
// giflib 5.

#include "../library.h"
#include <stdbool.h>

#ifndef _GIF_LIB_H_
typedef unsigned GifRecordType;
typedef struct {
    unsigned char Red, Green, Blue;
} GifColorType;
typedef struct {
    int ColorCount, BitsPerPixel;
    bool SortFlag;
    GifColorType *Colors;
} ColorMapObject;
typedef struct {
    int Left, Top, Width, Height;
    bool Interlace;
    ColorMapObject *ColorMap;
} GifImageDesc;
typedef struct GifFileType {
    int SWidth, SHeight, SColorResolution, SBackGroundColor;
    unsigned char AspectByte;
    ColorMapObject *SColorMap;
    int ImageCount;
    GifImageDesc Image;
    void *SavedImages;
    int ExtensionBlockCount;
    void *ExtensionBlocks;
    int Error;
    void *UserData, *Private;
} GifFileType;
typedef int (*InputFunc)(GifFileType *, unsigned char *, int);
#endif

#define SHIM_GIF_NUMBERS(each) \
    each(IMAGE_DESC_RECORD_TYPE, 2) \
    each(EXTENSION_RECORD_TYPE, 3) \
    each(GRAPHICS_EXT_FUNC_CODE, 0xf9) \
    each(D_GIF_ERR_WRONG_RECORD, 107) \
    each(GIF_OK, 1)
enum { SHIM_GIF_NUMBERS(SHIM_NUMBER) };

#define SHIM_GIF_FUNCTIONS(each) \
    each(int, DGifCloseFile, (GifFileType *gif, int *error)) \
    each(int, DGifGetExtension, (GifFileType *gif, int *kind, unsigned char **block)) \
    each(int, DGifGetExtensionNext, (GifFileType *gif, unsigned char **block)) \
    each(int, DGifGetImageDesc, (GifFileType *gif)) \
    each(int, DGifGetLine, (GifFileType *gif, unsigned char *line, int count)) \
    each(int, DGifGetRecordType, (GifFileType *gif, GifRecordType *type)) \
    each(GifFileType *, DGifOpen, (void *context, InputFunc read, int *error))
SHIM_DECLARED_LIBRARY(shim_gif, SHIM_GIF_FUNCTIONS)

#ifdef _GIF_LIB_H_
SHIM_GIF_NUMBERS(SHIM_SAME)
_Static_assert(sizeof(GifFileType) == 120 && offsetof(GifFileType, Image) == 40, "GifFileType is another");
_Static_assert(offsetof(GifImageDesc, ColorMap) == 24 && offsetof(ColorMapObject, Colors) == 16, "A map is another");
#endif
