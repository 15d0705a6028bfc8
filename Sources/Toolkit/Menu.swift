internal import CAdwaita

/// A list of actions above the window.
package final class Menu: Widget {
    private let list = Box(.vertical)

    /// - Parameter maximumHeight: The height above which the entries can be scrolled; nil for none.
    package init(maximumHeight: Int? = nil) {
        super.init(gtk_popover_new())
        let content = maximumHeight.map { ScrollArea(list, maximumHeight: $0) } ?? list
        gtk_popover_set_child(cast(), content.widget)
        styled("menu")
    }

    /// Adds an entry.
    package func add(_ title: String, _ action: @escaping () -> Void) {
        // The button belongs to the popover.
        let button = Button(child: Label(title).ellipsizing()) { [unowned self] in
            gtk_popover_popdown(cast())
            action()
        }
        button.styled("flat", "menu-entry").setAccessibleName(title)
        list.append(button)
    }

    package func removeAll() { list.removeAll() }

    /// Opens the menu.
    ///
    /// - Parameters:
    ///   - box: A box, which owns the menu from then on.
    ///   - target: The widget inside of the box that the menu belongs to.
    ///   - point: A point of the target; nil for its middle.
    package func open(in box: Box, at target: Widget, _ point: (x: Double, y: Double)?) {
        if gtk_widget_get_parent(widget) == nil { gtk_widget_set_parent(widget, box.widget) }
        let point = point ?? (Double(target.width) / 2, Double(target.height) / 2)
        var x = 0.0
        var y = 0.0
        gtk_widget_translate_coordinates(target.widget, box.widget, point.x, point.y, &x, &y)
        var place = GdkRectangle(x: Int32(x), y: Int32(y), width: 1, height: 1)
        gtk_popover_set_has_arrow(cast(), 0)
        gtk_popover_set_pointing_to(cast(), &place)
        gtk_popover_popup(cast())
    }
}

/// A button that opens a menu.
package final class MenuButton: Widget {
    package let menu: Menu

    package init(icon: String, tooltip: String, maximumHeight: Int? = nil) {
        menu = Menu(maximumHeight: maximumHeight)
        super.init(gtk_menu_button_new())
        gtk_menu_button_set_icon_name(opaque, icon)
        gtk_menu_button_set_popover(opaque, menu.widget)
        setName(tooltip)
    }

    /// Calls `handler` before the menu opens.
    package func onOpen(_ handler: @escaping () -> Void) {
        menu.connect("show") { _ in handler() }
    }
    package func open() { gtk_menu_button_popup(opaque) }
}
