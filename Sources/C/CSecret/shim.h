#pragma once
// libsecret, loaded at its first use, because it loads GIO and libgcrypt, which a daemon without secrets does not need.
// Its headers are found only with pkg-config, which also links the library. The used declarations are therefore
// repeated here; dist/test compares them with the headers. GLib includes the headers of GIO.

#include "../glib-flags.h"
#include "../library.h"

#include <gio/gio.h>

typedef struct _SecretCollection SecretCollection;
typedef struct _SecretItem SecretItem;
typedef struct _SecretService SecretService;
typedef struct _SecretValue SecretValue;
#ifndef __SECRET_H__
typedef struct shim_secret_schema SecretSchema;
#endif

#define SHIM_SECRET_NUMBERS(each) \
    each(SECRET_COLLECTION_CREATE_NONE, 0) \
    each(SECRET_COLLECTION_NONE, 0) \
    each(SECRET_ERROR_IS_LOCKED, 2) \
    each(SECRET_ITEM_CREATE_REPLACE, 2) \
    each(SECRET_SEARCH_ALL, 2) \
    each(SECRET_SERVICE_OPEN_SESSION, 2)
enum { SHIM_SECRET_NUMBERS(SHIM_NUMBER) };

// Flags have an unsigned type, like the enumerations of the headers. The schema argument is always NULL, because a
// schema would only check the attributes and add its name to them.
#define SHIM_SECRET_FUNCTIONS(each) \
    each(void, secret_collection_for_alias, \
        (SecretService *service, const gchar *alias, unsigned flags, GCancellable *cancellable, \
        GAsyncReadyCallback callback, gpointer context)) \
    each(SecretCollection *, secret_collection_for_alias_finish, (GAsyncResult *result, GError **error)) \
    each(gboolean, secret_collection_get_locked, (SecretCollection *self)) \
    each(GQuark, secret_error_get_quark, (void)) \
    each(void, secret_item_delete, \
        (SecretItem *self, GCancellable *cancellable, GAsyncReadyCallback callback, gpointer context)) \
    each(gboolean, secret_item_delete_finish, (SecretItem *self, GAsyncResult *result, GError **error)) \
    each(gboolean, secret_item_get_locked, (SecretItem *self)) \
    each(guint64, secret_item_get_modified, (SecretItem *self)) \
    each(SecretValue *, secret_item_get_secret, (SecretItem *self)) \
    each(void, secret_item_load_secret, \
        (SecretItem *self, GCancellable *cancellable, GAsyncReadyCallback callback, gpointer context)) \
    each(gboolean, secret_item_load_secret_finish, (SecretItem *self, GAsyncResult *result, GError **error)) \
    each(void, secret_service_create_collection_dbus_path, \
        (SecretService *self, GHashTable *properties, const gchar *alias, unsigned flags, GCancellable *cancellable, \
        GAsyncReadyCallback callback, gpointer context)) \
    each(gchar *, secret_service_create_collection_dbus_path_finish, \
        (SecretService *self, GAsyncResult *result, GError **error)) \
    each(void, secret_service_create_item_dbus_path, \
        (SecretService *self, const gchar *collection_path, GHashTable *properties, SecretValue *value, \
        unsigned flags, GCancellable *cancellable, GAsyncReadyCallback callback, gpointer context)) \
    each(gchar *, secret_service_create_item_dbus_path_finish, \
        (SecretService *self, GAsyncResult *result, GError **error)) \
    each(GList *, secret_service_get_collections, (SecretService *self)) \
    each(const gchar *, secret_service_get_session_dbus_path, (SecretService *self)) \
    each(GType, secret_service_get_type, (void)) \
    each(void, secret_service_load_collections, \
        (SecretService *self, GCancellable *cancellable, GAsyncReadyCallback callback, gpointer context)) \
    each(gboolean, secret_service_load_collections_finish, \
        (SecretService *self, GAsyncResult *result, GError **error)) \
    each(void, secret_service_open, \
        (GType type, const gchar *name, unsigned flags, GCancellable *cancellable, GAsyncReadyCallback callback, \
        gpointer context)) \
    each(SecretService *, secret_service_open_finish, (GAsyncResult *result, GError **error)) \
    each(void, secret_service_search, \
        (SecretService *service, const SecretSchema *schema, GHashTable *attributes, unsigned flags, \
        GCancellable *cancellable, GAsyncReadyCallback callback, gpointer context)) \
    each(GList *, secret_service_search_finish, (SecretService *service, GAsyncResult *result, GError **error)) \
    each(void, secret_service_unlock, \
        (SecretService *service, GList *objects, GCancellable *cancellable, GAsyncReadyCallback callback, \
        gpointer context)) \
    each(gint, secret_service_unlock_finish, \
        (SecretService *service, GAsyncResult *result, GList **unlocked, GError **error)) \
    each(const gchar *, secret_value_get, (SecretValue *value, gsize *length)) \
    each(SecretValue *, secret_value_new, (const gchar *secret, gssize length, const gchar *content_type)) \
    each(void, secret_value_unref, (gpointer value))

#define SHIM_GLIB_FUNCTIONS(each) \
    each(g_bus_get) each(g_bus_get_finish) \
    each(g_cancellable_cancel) each(g_cancellable_new) \
    each(g_dbus_connection_call) each(g_dbus_connection_call_finish) each(g_dbus_connection_is_closed) \
    each(g_dbus_connection_set_exit_on_close) each(g_dbus_connection_signal_subscribe) \
    each(g_dbus_connection_signal_unsubscribe) each(g_dbus_error_quark) \
    each(g_dbus_error_strip_remote_error) each(g_dbus_proxy_get_object_path) \
    each(g_error_free) each(g_free) each(g_hash_table_insert) each(g_hash_table_new_full) each(g_hash_table_unref) \
    each(g_io_error_quark) each(g_list_append) each(g_list_free) each(g_log_set_always_fatal) \
    each(g_main_context_iteration) each(g_main_context_new) \
    each(g_main_context_pop_thread_default) each(g_main_context_push_thread_default) \
    each(g_main_context_unref) each(g_main_context_wakeup) each(g_object_ref) each(g_object_unref) \
    each(g_source_attach) each(g_source_destroy) each(g_source_set_callback) each(g_source_unref) \
    each(g_str_equal) each(g_str_hash) each(g_timeout_source_new) each(g_utf8_validate) \
    each(g_variant_get_child_value) each(g_variant_get_string) each(g_variant_new_array) each(g_variant_new_dict_entry) each(g_variant_new_string) \
    each(g_variant_ref_sink) each(g_variant_unref)

// The functions of libsecret and of the libraries that it loads.
SHIM_SECRET_FUNCTIONS(SHIM_DECLARE)
SHIM_LIBRARY(
    shim_secret, SHIM_GLIB_FUNCTIONS(SHIM_FIELD) SHIM_SECRET_FUNCTIONS(SHIM_DECLARED_FIELD),
    SHIM_GLIB_FUNCTIONS(SHIM_FIND) SHIM_SECRET_FUNCTIONS(SHIM_DECLARED_FIND))

#ifdef __SECRET_H__
SHIM_SECRET_NUMBERS(SHIM_SAME)
#endif
