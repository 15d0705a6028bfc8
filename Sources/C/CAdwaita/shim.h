#pragma once
// GTK 4 and libadwaita, with functions in place of variadic functions, macros and casts, which Swift cannot import.

// Later versions deprecate widgets that have no replacement in GTK 4.8 and libadwaita 1.2.
#define GLIB_DISABLE_DEPRECATION_WARNINGS
#define GDK_DISABLE_DEPRECATION_WARNINGS
#define ADW_DISABLE_DEPRECATION_WARNINGS

#include "../glib-flags.h"

#include <adwaita.h>
#include <glib-unix.h>

#include "../library.h"

// Connects a closure with one marshaller for every signal. `destroy` is called with `context` when the last reference
// is released.
static inline gulong shim_connect(
    gpointer object, const char *signal, gpointer context, GClosureMarshal marshal, GClosureNotify destroy) {
    GClosure *closure = g_closure_new_simple(sizeof(GClosure), context);
    g_closure_set_marshal(closure, marshal);
    g_closure_add_finalize_notifier(closure, context, destroy);
    return g_signal_connect_closure(object, signal, closure, FALSE);
}

static inline gpointer shim_closure_context(const GClosure *closure) { return closure->data; }

static inline void shim_set_accessible_text(gpointer widget, GtkAccessibleProperty property, const char *text) {
    gtk_accessible_update_property(GTK_ACCESSIBLE(widget), property, text, -1);
}

// Returns the title of an entry, which the caller frees; NULL for another widget.
static inline char *shim_text_of_menu_entry(gpointer widget) {
    char *text = NULL;
    if (g_str_equal(G_OBJECT_TYPE_NAME(widget), "GtkModelButton"))
        g_object_get(widget, "text", &text, NULL);
    return text;
}

static inline void shim_set_accessible_selected(gpointer widget, gboolean selected) {
    gtk_accessible_update_state(GTK_ACCESSIBLE(widget), GTK_ACCESSIBLE_STATE_SELECTED, selected, -1);
}

static inline void shim_set_accessible_position(gpointer widget, int position, int size) {
    gtk_accessible_update_relation(GTK_ACCESSIBLE(widget), GTK_ACCESSIBLE_RELATION_POS_IN_SET, position,
                                   GTK_ACCESSIBLE_RELATION_SET_SIZE, size, -1);
}

// The role of a widget is fixed when it is created.
static inline gpointer shim_new_with_role(GType type, GtkAccessibleRole role) {
    return g_object_new(type, "accessible-role", role, NULL);
}

static inline gboolean shim_is(gpointer object, GType type) { return G_TYPE_CHECK_INSTANCE_TYPE(object, type); }

static inline void shim_set_flag(gpointer object, const char *name, gboolean value) {
    g_object_set(object, name, value, NULL);
}
