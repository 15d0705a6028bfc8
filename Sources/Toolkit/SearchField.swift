internal import CAdwaita

/// A field for words to search.
@MainActor
package final class SearchField: Widget {
    /// Called with the words when the user presses Enter.
    package var onSubmit: ((String) -> Void)?
    /// Called when the user presses Escape.
    package var onStop: (() -> Void)?

    package init(_ name: String) {
        super.init(gtk_search_entry_new())
        setAccessibleName(name)
        connect("activate") { [weak self] _ in
            guard let self else { return }
            onSubmit?(text(gtk_editable_get_text(opaque)))
        }
        connect("stop-search") { [weak self] _ in self?.onStop?() }
    }
}
