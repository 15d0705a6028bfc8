internal import CAdwaita

/// Plain text.
package final class Label: Widget {
    package var text: String {
        get { Toolkit.text(gtk_label_get_text(opaque)) }
        set { gtk_label_set_text(opaque, newValue) }
    }

    /// - Parameters:
    ///   - text: The text.
    ///   - isHeading: True for a label that screen readers present as a heading.
    package init(_ text: String = "", isHeading: Bool = false) {
        super.init(
            isHeading
                ? Self.new(gtk_label_get_type(), GTK_ACCESSIBLE_ROLE_HEADING) : gtk_label_new(nil))
        gtk_label_set_text(opaque, text)
    }

    /// Breaks long text into lines.
    @discardableResult
    package func wrapping(atStart: Bool = true) -> Self {
        gtk_label_set_wrap(opaque, 1)
        gtk_label_set_wrap_mode(opaque, PANGO_WRAP_WORD_CHAR)
        gtk_label_set_xalign(opaque, atStart ? 0 : 0.5)
        gtk_label_set_justify(opaque, atStart ? GTK_JUSTIFY_LEFT : GTK_JUSTIFY_CENTER)
        return self
    }

    /// Shortens long text.
    @discardableResult
    package func ellipsizing(atStart: Bool = true) -> Self {
        gtk_label_set_ellipsize(opaque, PANGO_ELLIPSIZE_END)
        gtk_label_set_xalign(opaque, atStart ? 0 : 0.5)
        return self
    }

    /// Lets the user select and copy the text.
    @discardableResult
    package func selectable() -> Self {
        gtk_label_set_selectable(opaque, 1)
        return self
    }

    /// Shows a link; `title` is plain text.
    package func setLink(_ uri: String, title: String) {
        gtk_label_set_markup(opaque, "<a href=\"\(markup(uri))\">\(markup(title))</a>")
    }

    /// Shows plain text in which the addresses of web pages are links.
    package func setTextWithLinks(_ text: String) {
        let markup = markup(text).replacing(#/https://\S*[^\s.,;)]/#) {
            "<a href=\"\($0.output)\">\($0.output)</a>"
        }
        gtk_label_set_markup(opaque, markup)
    }
}
