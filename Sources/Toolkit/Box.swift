internal import CAdwaita

/// The cases have the values of `GtkOrientation`.
package enum Orientation: UInt32, Sendable {
    case horizontal, vertical
}

/// Widgets in a row or column.
@MainActor
package final class Box: Widget {
    package init(_ orientation: Orientation, spacing: Int = 0, _ children: Widget...) {
        super.init(gtk_box_new(GtkOrientation(orientation.rawValue), Int32(spacing)))
        for child in children { append(child) }
    }

    package func append(_ child: Widget) { gtk_box_append(cast(), child.widget) }
    package func prepend(_ child: Widget) { gtk_box_prepend(cast(), child.widget) }
    package func remove(_ child: Widget) { gtk_box_remove(cast(), child.widget) }
    package func removeAll() {
        while let child = gtk_widget_get_first_child(widget) { gtk_box_remove(cast(), child) }
    }
}
