internal import CAdwaita

/// A button with a text, an icon or a widget.
@MainActor
package final class Button: Widget {
    package init(_ label: String, _ action: @escaping () -> Void = {}) {
        super.init(gtk_button_new_with_mnemonic(label))
        wrapLabel()
        nameAfterLabel(label)
        onClick(action)
    }

    /// Creates a button with an icon. The tooltip is also its accessible name.
    package init(icon: String, tooltip: String, _ action: @escaping () -> Void = {}) {
        super.init(gtk_button_new_from_icon_name(icon))
        self.tooltip = tooltip
        setAccessibleName(tooltip)
        onClick(action)
    }

    package init(child: Widget, _ action: @escaping () -> Void = {}) {
        super.init(gtk_button_new())
        gtk_button_set_child(cast(), child.widget)
        onClick(action)
    }

    /// Sets the text; an underscore precedes the letter that activates the button together with Alt.
    package func setLabel(_ label: String) {
        gtk_button_set_label(cast(), label)
        gtk_button_set_use_underline(cast(), 1)
        wrapLabel()
        nameAfterLabel(label)
    }

    /// Breaks a long text into lines in a window that is too narrow for it, such as with large text.
    private func wrapLabel() {
        guard let label = gtk_button_get_child(cast()),
            shim_is(UnsafeMutableRawPointer(label), gtk_label_get_type()) != 0
        else { return }
        gtk_label_set_wrap(OpaquePointer(label), 1)
        gtk_label_set_justify(OpaquePointer(label), GTK_JUSTIFY_CENTER)
    }

    /// Replaces the accessible name that GTK composes of the label with the underscore and the visible text.
    private func nameAfterLabel(_ label: String) {
        gtk_accessible_reset_relation(opaque, GTK_ACCESSIBLE_RELATION_LABELLED_BY)
        setAccessibleName(label.filter { $0 != "_" })
    }
    package func setIcon(_ icon: String, tooltip: String) {
        gtk_button_set_icon_name(cast(), icon)
        self.tooltip = tooltip
        setAccessibleName(tooltip)
    }
    package func onClick(_ action: @escaping () -> Void) { connect("clicked") { _ in action() } }
}

/// A button that stays pressed.
@MainActor
package final class ToggleButton: Widget {
    package var isActive: Bool {
        get { gtk_toggle_button_get_active(cast()) != 0 }
        set { gtk_toggle_button_set_active(cast(), newValue ? 1 : 0) }
    }

    package init(icon: String, tooltip: String, _ action: @escaping (Bool) -> Void) {
        super.init(gtk_toggle_button_new())
        gtk_button_set_icon_name(cast(), icon)
        self.tooltip = tooltip
        setAccessibleName(tooltip)
        let raw = self.raw
        connect("toggled") { _ in
            action(
                gtk_toggle_button_get_active(raw.assumingMemoryBound(to: GtkToggleButton.self)) != 0
            )
        }
    }

    package func setIcon(_ icon: String) { gtk_button_set_icon_name(cast(), icon) }
}

/// A button that opens a menu of buttons.
@MainActor
package final class MenuButton: Widget {
    private let list = Box(.vertical)
    private let popover: Widget

    package init(icon: String, tooltip: String) {
        popover = Widget(gtk_popover_new())
        super.init(gtk_menu_button_new())
        gtk_popover_set_child(popover.cast(), list.widget)
        gtk_widget_add_css_class(popover.widget, "menu")
        gtk_menu_button_set_icon_name(opaque, icon)
        gtk_menu_button_set_popover(opaque, popover.widget)
        self.tooltip = tooltip
        setAccessibleName(tooltip)
    }

    /// Adds an entry.
    @discardableResult
    package func add(_ title: String, _ action: @escaping () -> Void) -> Button {
        let label = Label(title).ellipsizing()
        // The button belongs to the popover.
        let raw = popover.raw
        let button = Button(child: label) {
            gtk_popover_popdown(raw.assumingMemoryBound(to: GtkPopover.self))
            action()
        }
        button.styled("flat", "menu-entry").setAccessibleName(title)
        list.append(button)
        return button
    }

    package func removeAll() { list.removeAll() }
}
