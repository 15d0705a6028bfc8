internal import CAdwaita
internal import Translation

/// The cases have the values of `GtkAlign`.
package enum Alignment: UInt32, Sendable { case fill, start, end, center }

/// A GTK widget.
package class Widget: Object {
    var widget: UnsafeMutablePointer<GtkWidget> { cast() }

    init(_ widget: UnsafeMutablePointer<GtkWidget>) { super.init(sinking: widget) }

    /// Creates a widget of a class that screen readers present as another one.
    static func new(_ type: GType, _ role: GtkAccessibleRole) -> UnsafeMutablePointer<GtkWidget> {
        guard let raw = shim_new_with_role(type, role) else { fatalError("GTK created no object") }
        return raw.assumingMemoryBound(to: GtkWidget.self)
    }

    package var isVisible: Bool {
        get { gtk_widget_get_visible(widget) != 0 }
        set { gtk_widget_set_visible(widget, newValue ? 1 : 0) }
    }
    package func setSensitive(_ isOn: Bool) { gtk_widget_set_sensitive(widget, isOn ? 1 : 0) }
    package func setFocusable(_ isOn: Bool) { gtk_widget_set_focusable(widget, isOn ? 1 : 0) }
    /// Lets the pointer select the widget, or only those below.
    package func setTargetable(_ isOn: Bool) { gtk_widget_set_can_target(widget, isOn ? 1 : 0) }
    package var hasFocusWithin: Bool { Self.hasFocusWithin(widget) }
    static func hasFocusWithin(_ widget: UnsafeMutablePointer<GtkWidget>) -> Bool {
        gtk_widget_get_state_flags(widget).rawValue & GTK_STATE_FLAG_FOCUS_WITHIN.rawValue != 0
    }
    package var isRightToLeft: Bool { gtk_widget_get_direction(widget) == GTK_TEXT_DIR_RTL }
    package var isMapped: Bool { gtk_widget_get_mapped(widget) != 0 }
    package var width: Int { Int(gtk_widget_get_width(widget)) }
    package var height: Int { Int(gtk_widget_get_height(widget)) }
    /// The height that the widget prefers.
    package var naturalHeight: Double {
        var height: Int32 = 0
        gtk_widget_measure(widget, GTK_ORIENTATION_VERTICAL, -1, nil, &height, nil, nil)
        return Double(height)
    }
    /// True unless the user turned animations off.
    package var hasAnimations: Bool { adw_get_enable_animations(widget) != 0 }
    /// Device pixels per unit.
    package var scaleFactor: Int { Int(gtk_widget_get_scale_factor(widget)) }

    /// The tooltip, which is also the accessible name of a button with an icon.
    package var tooltip: String {
        get { text(gtk_widget_get_tooltip_text(widget)) }
        set { gtk_widget_set_tooltip_text(widget, newValue.isEmpty ? nil : newValue) }
    }

    /// Sets the tooltip and the name that a screen reader reads.
    package func setName(_ name: String) {
        tooltip = name
        setAccessibleName(name)
    }

    @discardableResult
    package func styled(_ classes: String...) -> Self {
        for name in classes { gtk_widget_add_css_class(widget, name) }
        return self
    }
    package func setClass(_ name: String, _ isSet: Bool) {
        (isSet ? gtk_widget_add_css_class : gtk_widget_remove_css_class)(widget, name)
    }

    /// Gives the widget the free space.
    @discardableResult
    package func expanding(horizontally: Bool = true, vertically: Bool = true) -> Self {
        gtk_widget_set_hexpand(widget, horizontally ? 1 : 0)
        gtk_widget_set_vexpand(widget, vertically ? 1 : 0)
        return self
    }
    @discardableResult
    package func aligned(_ horizontal: Alignment, _ vertical: Alignment) -> Self {
        gtk_widget_set_halign(widget, GtkAlign(horizontal.rawValue))
        gtk_widget_set_valign(widget, GtkAlign(vertical.rawValue))
        return self
    }
    @discardableResult
    package func margins(_ all: Int) -> Self { margins(horizontal: all, vertical: all) }
    @discardableResult
    package func margins(horizontal: Int, vertical: Int) -> Self {
        gtk_widget_set_margin_start(widget, Int32(horizontal))
        gtk_widget_set_margin_end(widget, Int32(horizontal))
        gtk_widget_set_margin_top(widget, Int32(vertical))
        gtk_widget_set_margin_bottom(widget, Int32(vertical))
        return self
    }
    /// Sets the minimum size; -1 for the widget's own.
    package func setMinimumSize(width: Int = -1, height: Int = -1) {
        gtk_widget_set_size_request(widget, Int32(width), Int32(height))
    }

    /// Sets the name that a screen reader reads.
    package func setAccessibleName(_ name: String) {
        shim_set_accessible_text(raw, GTK_ACCESSIBLE_PROPERTY_LABEL, name)
    }
    package func setAccessibleDescription(_ description: String) {
        shim_set_accessible_text(raw, GTK_ACCESSIBLE_PROPERTY_DESCRIPTION, description)
    }
    /// Marks the widget as selected for screen readers.
    package func setAccessibleSelected(_ isSelected: Bool) {
        shim_set_accessible_selected(raw, isSelected ? 1 : 0)
    }
    /// Sets the position in a list of which only a part has widgets.
    ///
    /// - Parameters:
    ///   - position: The position, beginning with 1.
    ///   - count: The number of items in the list.
    package func setAccessiblePosition(_ position: Int, of count: Int) {
        // GTK 4.8 does not report the position to screen readers.
        // Translators: the position in the list of photos, for screen readers.
        setAccessibleDescription(
            tr(
                "{position} of {count}",
                ["position": text(ofNumber: position), "count": text(ofNumber: count)]))
        shim_set_accessible_position(raw, Int32(clamping: position), Int32(clamping: count))
    }

    package func grabFocus() { gtk_widget_grab_focus(widget) }
    package func redraw() { gtk_widget_queue_draw(widget) }
    package func setCursor(_ name: String?) { gtk_widget_set_cursor_from_name(widget, name) }

    /// Calls `handler` each time the widget appears on the screen.
    package func onMap(_ handler: @escaping () -> Void) { connect("map") { _ in handler() } }
}
