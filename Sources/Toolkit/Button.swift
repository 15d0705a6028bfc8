internal import CAdwaita

/// A button with a text, an icon or a widget.
package final class Button: Widget {
    package init(_ label: String, _ action: @escaping () -> Void = {}) {
        super.init(gtk_button_new())
        setLabel(label)
        onClick(action)
    }

    /// Creates a button with an icon.
    ///
    /// - Parameters:
    ///   - icon: The icon.
    ///   - tooltip: The tooltip, which is also the accessible name.
    ///   - staysPressed: True for a button that is pressed until the next click or ``setPressed(_:)``.
    ///   - action: Called when the user presses or releases the button.
    package init(
        icon: String, tooltip: String, staysPressed: Bool = false,
        _ action: @escaping () -> Void = {}
    ) {
        super.init(staysPressed ? gtk_toggle_button_new() : gtk_button_new())
        setIcon(icon, tooltip: tooltip)
        onClick(action)
    }

    /// Creates a button with a widget, which screen readers present as an item of a list.
    package init(listItem child: Widget) {
        super.init(Self.new(gtk_button_get_type(), GTK_ACCESSIBLE_ROLE_LIST_ITEM))
        gtk_button_set_child(cast(), child.widget)
    }

    /// Sets the text; an underscore precedes the letter that activates the button together with Alt.
    package func setLabel(_ label: String) {
        gtk_button_set_label(cast(), label)
        gtk_button_set_use_underline(cast(), 1)
        // GTK breaks a long text into lines in a window that is too narrow for it, such as with large text.
        let child = OpaquePointer(gtk_button_get_child(cast()))
        gtk_label_set_wrap(child, 1)
        gtk_label_set_justify(child, GTK_JUSTIFY_CENTER)
        // The accessible name that GTK composes has the underscore and the visible text.
        gtk_accessible_reset_relation(opaque, GTK_ACCESSIBLE_RELATION_LABELLED_BY)
        setAccessibleName(label.filter { $0 != "_" })
    }

    /// - Parameters:
    ///   - icon: The icon.
    ///   - fallback: The icon in its place if the icon theme does not have it.
    ///   - tooltip: The tooltip, which is also the accessible name.
    package func setIcon(_ icon: String, orElse fallback: String? = nil, tooltip: String) {
        let theme = gtk_icon_theme_get_for_display(gtk_widget_get_display(widget))
        let isMissing = fallback != nil && gtk_icon_theme_has_icon(theme, icon) == 0
        gtk_button_set_icon_name(cast(), isMissing ? fallback : icon)
        setName(tooltip)
    }
    package func onClick(_ action: @escaping () -> Void) { connect("clicked") { _ in action() } }
    /// Presses or releases a button that stays pressed.
    package func setPressed(_ isOn: Bool) { gtk_toggle_button_set_active(cast(), isOn ? 1 : 0) }
}
