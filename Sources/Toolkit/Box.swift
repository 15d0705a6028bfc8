internal import CAdwaita

package enum Orientation: Sendable {
    case horizontal, vertical

    var gtk: GtkOrientation {
        self == .horizontal ? GTK_ORIENTATION_HORIZONTAL : GTK_ORIENTATION_VERTICAL
    }
}

/// Widgets in a row or column.
@MainActor
package final class Box: Widget {
    package init(_ orientation: Orientation, spacing: Int = 0, _ children: Widget...) {
        super.init(gtk_box_new(orientation.gtk, Int32(spacing)))
        for child in children { append(child) }
    }

    package func append(_ child: Widget) { gtk_box_append(cast(), child.widget) }
    package func prepend(_ child: Widget) { gtk_box_prepend(cast(), child.widget) }
    package func remove(_ child: Widget) { gtk_box_remove(cast(), child.widget) }
    package func removeAll() {
        while let child = gtk_widget_get_first_child(widget) { gtk_box_remove(cast(), child) }
    }
}
