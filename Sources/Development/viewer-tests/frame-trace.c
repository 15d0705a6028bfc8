// Measurements of the grid of photos, for `dist/development/test-viewer --measure`. The library is loaded before those of
// the window.
//
// It prints the time at which the visible photos are shown. With FRAME_TRACE=scroll, it also scrolls to the end of the grid
// at 4,000 units per second, and prints the times of the frames and the processor times of the main thread between them. With
// FRAME_TRACE_LONG=MILLISECONDS, it prints each frame that takes more processor time, or 100 ms.
//
// A frame that takes long without processor time waits, mostly for the X server, which other programs may keep from running.
#define _GNU_SOURCE
#include <dlfcn.h>
#include <gtk/gtk.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define MOST_FRAMES 100000
// The upper bounds of the classes of the histograms in milliseconds.
static const double classes[] = {17.5, 25, 34, 50, 100, INFINITY};

static double frames[MOST_FRAMES], processor[MOST_FRAMES];
static int frame_count;
static double last_time, last_processor;
static enum { WAITING, DRAWING, SCROLLING } phase;

static double now(clockid_t clock) {
    struct timespec time;
    clock_gettime(clock, &time);
    return time.tv_sec + time.tv_nsec / 1e9;
}

// Finds a visible widget of a type.
static GtkWidget *find(GtkWidget *widget, GType type) {
    if (!gtk_widget_get_mapped(widget)) return NULL;
    if (G_TYPE_CHECK_INSTANCE_TYPE(widget, type)) return widget;
    for (GtkWidget *child = gtk_widget_get_first_child(widget); child; child = gtk_widget_get_next_sibling(child)) {
        GtkWidget *found = find(child, type);
        if (found) return found;
    }
    return NULL;
}

// Returns true if all photos of the grid have an image. The photos of a measurement have no placeholder.
static gboolean is_complete(GtkWidget *grid) {
    int count = 0;
    for (GtkWidget *cell = gtk_widget_get_first_child(grid); cell; cell = gtk_widget_get_next_sibling(cell)) {
        GtkWidget *picture = find(cell, GTK_TYPE_PICTURE);
        if (!picture) continue;
        if (!gtk_picture_get_paintable(GTK_PICTURE(picture))) return FALSE;
        count++;
    }
    return count > 0;
}

static void print_histogram(const char *name, const double *values) {
    int counts[G_N_ELEMENTS(classes)] = {0};
    double longest = 0;
    for (int frame = 0; frame < frame_count; frame++) {
        int class = 0;
        while (values[frame] > classes[class]) class++;
        counts[class]++;
        longest = MAX(longest, values[frame]);
    }
    printf("trace %s %d", name, frame_count);
    for (size_t class = 0; class < G_N_ELEMENTS(classes); class++) printf(" %g:%d", classes[class], counts[class]);
    printf(" longest:%.1f\n", longest);
}

static gboolean scroll(GtkAdjustment *position) {
    double time = now(CLOCK_MONOTONIC), used = now(CLOCK_THREAD_CPUTIME_ID);
    double seconds = time - last_time;
    if (last_time > 0 && frame_count < MOST_FRAMES) {
        frames[frame_count] = seconds * 1000;
        processor[frame_count] = (used - last_processor) * 1000;
        const char *limit = getenv("FRAME_TRACE_LONG");
        if (limit && (processor[frame_count] > atof(limit) || seconds > 0.1))
            printf("trace long %d at %.6f: %.1f ms, processor %.1f ms\n", frame_count, time, seconds * 1000,
                   processor[frame_count]);
        frame_count++;
    }
    if (last_time > 0) gtk_adjustment_set_value(position, gtk_adjustment_get_value(position) + MIN(seconds, 0.1) * 4000);
    last_time = time;
    last_processor = now(CLOCK_THREAD_CPUTIME_ID);
    double end = gtk_adjustment_get_upper(position) - gtk_adjustment_get_page_size(position);
    if (gtk_adjustment_get_value(position) < end - 1) return G_SOURCE_CONTINUE;
    print_histogram("frames", frames);
    print_histogram("processor", processor);
    fflush(stdout);
    return G_SOURCE_REMOVE;
}

static gboolean tick(GtkWidget *window, GdkFrameClock *clock, gpointer context) {
    GtkWidget *grid = find(window, GTK_TYPE_FIXED);
    if (!grid) return G_SOURCE_CONTINUE;
    GtkWidget *area = gtk_widget_get_ancestor(grid, GTK_TYPE_SCROLLED_WINDOW);
    switch (phase) {
        case WAITING:
            // The images are drawn in the first frame, which has ended when the second one begins.
            if (is_complete(grid)) phase = DRAWING;
            gtk_widget_queue_draw(area);
            return G_SOURCE_CONTINUE;
        case DRAWING:
            printf("trace thumbnails %f\n", now(CLOCK_MONOTONIC));
            fflush(stdout);
            phase = SCROLLING;
            return strcmp(getenv("FRAME_TRACE"), "scroll") == 0;
        case SCROLLING:
            return scroll(gtk_scrolled_window_get_vadjustment(GTK_SCROLLED_WINDOW(area)));
    }
    return G_SOURCE_REMOVE;
}

// Replaces the function of GTK.
void gtk_window_present(GtkWindow *window) {
    static gboolean is_known;
    ((void (*)(GtkWindow *))dlsym(RTLD_NEXT, "gtk_window_present"))(window);
    if (!is_known) gtk_widget_add_tick_callback(GTK_WIDGET(window), tick, NULL, NULL);
    is_known = TRUE;
}

// Programs that the window starts do not need the library.
__attribute__((constructor)) static void start(void) { unsetenv("LD_PRELOAD"); }
