internal import CAdwaita

/// A vertically scrollable area.
package final class ScrollArea: Widget {
    private let vertical, horizontal: UnsafeMutablePointer<GtkAdjustment>

    /// - Parameters:
    ///   - child: The content.
    ///   - mayOverflow: True if the child may be wider than the area, which then does not widen the window.
    package init(_ child: Widget, mayOverflow: Bool = false) {
        let area: UnsafeMutablePointer<GtkWidget> = gtk_scrolled_window_new()
        vertical = gtk_scrolled_window_get_vadjustment(OpaquePointer(area))
        horizontal = gtk_scrolled_window_get_hadjustment(OpaquePointer(area))
        super.init(area)
        gtk_scrolled_window_set_policy(
            opaque, mayOverflow ? GTK_POLICY_EXTERNAL : GTK_POLICY_NEVER, GTK_POLICY_AUTOMATIC)
        gtk_scrolled_window_set_child(opaque, child.widget)
    }

    /// The distance of the visible part from the top.
    package var position: Double {
        get { gtk_adjustment_get_value(vertical) }
        set { gtk_adjustment_set_value(vertical, newValue) }
    }
    package var visibleHeight: Double { gtk_adjustment_get_page_size(vertical) }
    package var visibleWidth: Double { gtk_adjustment_get_page_size(horizontal) }
    /// Sets the height of the content before the content has it, so that the position can be there at once.
    package func setContentHeight(_ height: Double) { gtk_adjustment_set_upper(vertical, height) }

    /// Calls `handler` when the visible part moves or changes its size. The handler must not change widgets at once.
    package func onScroll(_ handler: @escaping () -> Void) {
        for adjustment in [vertical, horizontal] {
            let object = Object(sinking: UnsafeMutableRawPointer(adjustment))
            object.connect("value-changed") { _ in handler() }
            object.connect("changed") { _ in handler() }
        }
    }
}

/// Widgets at positions that the owner computes.
package final class FixedArea: Widget {
    /// Creates an empty area, which is a list for screen readers.
    package init() { super.init(Self.new(gtk_fixed_get_type(), GTK_ACCESSIBLE_ROLE_LIST)) }

    /// Adds a widget. Screen readers read the widgets in their order, in which the new one follows `sibling`.
    package func add(_ child: Widget, x: Double, y: Double, after sibling: Widget?) {
        gtk_fixed_put(cast(), child.widget, x, y)
        gtk_widget_insert_after(child.widget, widget, sibling?.widget)
    }
    package func move(_ child: Widget, x: Double, y: Double) {
        gtk_fixed_move(cast(), child.widget, x, y)
    }
    package func remove(_ child: Widget) { gtk_fixed_remove(cast(), child.widget) }
}
