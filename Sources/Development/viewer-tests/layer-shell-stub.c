// A stub of gtk4-layer-shell that writes its calls to the file in LAYER_SHELL_LOG, for tests without a Wayland compositor.
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

static void record(const char *format, ...) {
    FILE *file = fopen(getenv("LAYER_SHELL_LOG"), "a");
    if (!file) return;
    va_list arguments;
    va_start(arguments, format);
    vfprintf(file, format, arguments);
    va_end(arguments);
    fclose(file);
}

int gtk_layer_is_supported(void) { return 1; }
void gtk_layer_init_for_window(void *window) { record("init %d\n", window != NULL); }
void gtk_layer_set_namespace(void *window, const char *name) { record("namespace %s\n", name); }
void gtk_layer_set_layer(void *window, int layer) { record("layer %d\n", layer); }
void gtk_layer_set_keyboard_mode(void *window, int mode) { record("keyboard %d\n", mode); }
void gtk_layer_set_anchor(void *window, int edge, int set) { record("anchor %d %d\n", edge, set); }
void gtk_layer_set_margin(void *window, int edge, int margin) { record("margin %d %d\n", edge, margin); }
