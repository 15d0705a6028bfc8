internal import CAdwaita

/// A field for words to search.
package final class SearchField: Widget {
    package init(_ name: String) {
        super.init(gtk_search_entry_new())
        setAccessibleName(name)
    }

    package func clear() { gtk_editable_set_text(opaque, "") }

    /// Calls `handler` with the words when the user presses Enter.
    package func onSubmit(_ handler: @escaping (String) -> Void) {
        connect("activate") { call in handler(text(gtk_editable_get_text(call.sender))) }
    }
    /// Calls `handler` when the user presses Escape.
    package func onStop(_ handler: @escaping () -> Void) {
        connect("stop-search") { _ in handler() }
    }
}
