#pragma once
// gdk-pixbuf, cairo and Pango, loaded only by the image helper. Their headers would require dozens of packages for the
// build, so the used declarations are repeated here; dist/test compares them with the headers. GLib includes the
// headers of GObject.

#include "../library.h"
#include <glib-object.h>

#ifndef GDK_PIXBUF_H
typedef struct _GdkPixbuf GdkPixbuf;
typedef struct _GdkPixbufLoader GdkPixbufLoader;
typedef gboolean (*GdkPixbufSaveFunc)(const gchar *bytes, gsize count, GError **error, gpointer context);
#endif

enum {
    SHIM_GDK_PIXBUF_ERROR_CORRUPT_IMAGE = 0,
    SHIM_GDK_PIXBUF_ERROR_INSUFFICIENT_MEMORY = 1,
    SHIM_GDK_PIXBUF_ERROR_UNKNOWN_TYPE = 3,
    SHIM_GDK_INTERP_BILINEAR = 2,
    SHIM_GDK_PIXBUF_ROTATE_COUNTERCLOCKWISE = 90,
    SHIM_GDK_PIXBUF_ROTATE_UPSIDEDOWN = 180,
    SHIM_GDK_PIXBUF_ROTATE_CLOCKWISE = 270,
};

// Enumerations have an unsigned type, as in the headers.
GQuark gdk_pixbuf_error_quark(void);
GdkPixbuf *gdk_pixbuf_flip(const GdkPixbuf *source, gboolean is_horizontal);
int gdk_pixbuf_get_height(const GdkPixbuf *pixbuf);
const gchar *gdk_pixbuf_get_option(GdkPixbuf *pixbuf, const gchar *key);
int gdk_pixbuf_get_width(const GdkPixbuf *pixbuf);
gboolean gdk_pixbuf_loader_close(GdkPixbufLoader *loader, GError **error);
GdkPixbuf *gdk_pixbuf_loader_get_pixbuf(GdkPixbufLoader *loader);
GdkPixbufLoader *gdk_pixbuf_loader_new_with_type(const char *type, GError **error);
void gdk_pixbuf_loader_set_size(GdkPixbufLoader *loader, int width, int height);
gboolean gdk_pixbuf_loader_write(GdkPixbufLoader *loader, const guchar *bytes, gsize count, GError **error);
GdkPixbuf *gdk_pixbuf_new_subpixbuf(GdkPixbuf *source, int x, int y, int width, int height);
GdkPixbuf *gdk_pixbuf_rotate_simple(const GdkPixbuf *source, unsigned angle);
gboolean gdk_pixbuf_save_to_callbackv(
    GdkPixbuf *pixbuf, GdkPixbufSaveFunc function, gpointer context, const char *type, char **keys, char **values,
    GError **error);
GdkPixbuf *gdk_pixbuf_scale_simple(const GdkPixbuf *source, int width, int height, unsigned interpolation);

#define SHIM_PIXBUF_FUNCTIONS(each) \
    each(g_error_free) each(g_object_ref) each(g_object_unref) each(g_signal_connect_data) \
    each(gdk_pixbuf_error_quark) each(gdk_pixbuf_flip) each(gdk_pixbuf_get_height) \
    each(gdk_pixbuf_get_option) each(gdk_pixbuf_get_width) each(gdk_pixbuf_loader_close) \
    each(gdk_pixbuf_loader_get_pixbuf) each(gdk_pixbuf_loader_new_with_type) \
    each(gdk_pixbuf_loader_set_size) each(gdk_pixbuf_loader_write) each(gdk_pixbuf_new_subpixbuf) \
    each(gdk_pixbuf_rotate_simple) each(gdk_pixbuf_save_to_callbackv) each(gdk_pixbuf_scale_simple)

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
    SHIM_CAIRO_STATUS_WRITE_ERROR = 11,
    SHIM_PANGO_SCALE = 1024,
};

#define SHIM_DRAWING_FUNCTIONS(each) \
    each(cairo_create) each(cairo_destroy) each(cairo_image_surface_create) each(cairo_move_to) \
    each(cairo_paint) each(cairo_set_source_rgb) each(cairo_surface_destroy) \
    each(cairo_surface_write_to_png_stream) each(g_object_unref) each(pango_cairo_create_layout) \
    each(pango_cairo_show_layout) each(pango_font_description_free) \
    each(pango_font_description_from_string) each(pango_font_description_set_absolute_size) \
    each(pango_layout_get_pixel_extents) each(pango_layout_set_font_description) each(pango_layout_set_text)

SHIM_LIBRARY(shim_pixbuf, SHIM_PIXBUF_FUNCTIONS, SHIM_FIELD, SHIM_FIND)
SHIM_LIBRARY(shim_drawing, SHIM_DRAWING_FUNCTIONS, SHIM_FIELD, SHIM_FIND)

#ifdef GDK_PIXBUF_H
#define SHIM_SAME(name) _Static_assert((int)SHIM_##name == (int)name, #name " is another");
SHIM_SAME(GDK_PIXBUF_ERROR_CORRUPT_IMAGE)
SHIM_SAME(GDK_PIXBUF_ERROR_INSUFFICIENT_MEMORY)
SHIM_SAME(GDK_PIXBUF_ERROR_UNKNOWN_TYPE)
SHIM_SAME(GDK_INTERP_BILINEAR)
SHIM_SAME(GDK_PIXBUF_ROTATE_COUNTERCLOCKWISE)
SHIM_SAME(GDK_PIXBUF_ROTATE_UPSIDEDOWN)
SHIM_SAME(GDK_PIXBUF_ROTATE_CLOCKWISE)
#endif
