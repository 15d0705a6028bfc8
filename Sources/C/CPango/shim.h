#pragma once
// cairo and Pango, loaded only by the image helper. Their headers would require dozens of packages for the build, so the
// used declarations are repeated here; dist/test compares them with the headers. GLib includes the headers of GObject.

#include "../library.h"
#include <glib-object.h>

#ifndef __PANGOCAIRO_H__
typedef struct _cairo cairo_t;
typedef struct _cairo_surface cairo_surface_t;
typedef struct _PangoFontDescription PangoFontDescription;
typedef struct _PangoLayout PangoLayout;
typedef struct _PangoRectangle PangoRectangle;
struct _PangoRectangle { int x, y, width, height; };
#endif
// Signed, because this enumeration has a negative value, unlike the others.
typedef int shim_cairo_format;
typedef unsigned (*shim_cairo_write)(void *context, const unsigned char *bytes, unsigned count);
cairo_t *cairo_create(cairo_surface_t *target);
void cairo_destroy(cairo_t *cairo);
cairo_surface_t *cairo_image_surface_create(shim_cairo_format format, int width, int height);
void cairo_move_to(cairo_t *cairo, double x, double y);
void cairo_paint(cairo_t *cairo);
void cairo_set_source_rgb(cairo_t *cairo, double red, double green, double blue);
void cairo_surface_destroy(cairo_surface_t *surface);
unsigned cairo_surface_write_to_png_stream(cairo_surface_t *surface, shim_cairo_write function, void *context);
PangoLayout *pango_cairo_create_layout(cairo_t *cairo);
void pango_cairo_show_layout(cairo_t *cairo, PangoLayout *layout);
void pango_font_description_free(PangoFontDescription *description);
PangoFontDescription *pango_font_description_from_string(const char *text);
void pango_font_description_set_absolute_size(PangoFontDescription *description, double size);
void pango_layout_get_pixel_extents(PangoLayout *layout, PangoRectangle *ink, PangoRectangle *logical);
void pango_layout_set_font_description(PangoLayout *layout, const PangoFontDescription *description);
void pango_layout_set_text(PangoLayout *layout, const char *text, int length);

enum {
    SHIM_CAIRO_FORMAT_RGB24 = 1,
    SHIM_CAIRO_STATUS_SUCCESS = 0,
    SHIM_PANGO_SCALE = 1024,
};

#define SHIM_DRAWING_FUNCTIONS(each) \
    each(cairo_create) each(cairo_destroy) each(cairo_image_surface_create) each(cairo_move_to) \
    each(cairo_paint) each(cairo_set_source_rgb) each(cairo_surface_destroy) \
    each(cairo_surface_write_to_png_stream) each(g_object_unref) each(pango_cairo_create_layout) \
    each(pango_cairo_show_layout) each(pango_font_description_free) \
    each(pango_font_description_from_string) each(pango_font_description_set_absolute_size) \
    each(pango_layout_get_pixel_extents) each(pango_layout_set_font_description) each(pango_layout_set_text)

SHIM_LIBRARY(shim_drawing, SHIM_DRAWING_FUNCTIONS, SHIM_FIELD, SHIM_FIND)

