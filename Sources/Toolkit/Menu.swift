internal import CAdwaita

/// An entry of a menu, or a button with an icon.
package struct MenuEntry {
    package let title: String
    /// The icon of a button; a menu shows it only in a row of buttons.
    package let icon: String
    /// The key of the entry in the form of GTK, such as `<Control>c`; empty for none. The menu shows it only.
    package let key: String
    package let action: () -> Void

    package init(
        _ title: String, icon: String = "", key: String = "", _ action: @escaping () -> Void
    ) {
        (self.title, self.icon, self.key, self.action) = (title, icon, key, action)
    }
}

/// A list of actions above the window. Its owner keeps it as long as it can be opened.
package final class Menu: Widget {
    private let model = Object(owning: g_menu_new())
    private var submenus: [String: Object] = [:]
    private var actions: [() -> Void] = []
    /// The widget that had the focus before the menu opened.
    private var previousFocus: Object?

    package init() {
        super.init(gtk_popover_menu_new_from_model(nil))
        gtk_popover_menu_set_menu_model(opaque, model.cast())
        gtk_popover_set_has_arrow(cast(), 0)
        let group = Object(owning: g_simple_action_group_new())
        group.addAction("perform", type: "i") { [weak self] parameter in
            let index = parameter.map { Int(g_variant_get_int32($0)) } ?? -1
            guard let self, actions.indices.contains(index) else { return }
            let action = actions[index]
            // The action may move the focus, which the end of the menu restores before.
            Task { action() }
        }
        gtk_widget_insert_action_group(widget, "menu", group.opaque)
        connect("map") { [weak self] _ in if let self { Self.nameEntries(of: widget) } }
        connect("closed") { [weak self] _ in
            guard let self, let focus = previousFocus else { return }
            previousFocus = nil
            gtk_widget_grab_focus(focus.cast())
        }
    }

    /// Names the entries for screen readers, for which they have no name in GTK 4.18.
    private static func nameEntries(of widget: UnsafeMutablePointer<GtkWidget>) {
        if let title = shim_text_of_menu_entry(widget) {
            gtk_accessible_reset_relation(
                OpaquePointer(widget), GTK_ACCESSIBLE_RELATION_LABELLED_BY)
            shim_set_accessible_text(widget, GTK_ACCESSIBLE_PROPERTY_LABEL, title)
            return g_free(title)
        }
        var child = gtk_widget_get_first_child(widget)
        while let current = child {
            nameEntries(of: current)
            child = gtk_widget_get_next_sibling(current)
        }
    }

    package func removeAll() {
        g_menu_remove_all(model.opaque)
        submenus = [:]
        actions = []
    }

    /// Adds entries below a line.
    ///
    /// - Parameters:
    ///   - entries: The entries; none adds nothing.
    ///   - areButtons: True for one row of buttons with icons.
    package func add(_ entries: [MenuEntry], areButtons: Bool = false) {
        guard !entries.isEmpty else { return }
        let section = Object(owning: g_menu_new())
        append(entries, to: section)
        let item = Object(owning: g_menu_item_new_section(nil, section.cast()))
        if areButtons { set("display-hint", "horizontal-buttons", of: item) }
        g_menu_append_item(model.opaque, item.opaque)
    }

    /// Adds entries at the end of a submenu, which is created if there is none with this title.
    package func add(_ entries: [MenuEntry], toSubmenu title: String) {
        let submenu = submenus[title] ?? Object(owning: g_menu_new())
        append(entries, to: submenu)
        guard submenus.updateValue(submenu, forKey: title) == nil else { return }
        g_menu_append_submenu(model.opaque, title, submenu.cast())
    }

    private func append(_ entries: [MenuEntry], to menu: Object) {
        for entry in entries {
            // An underscore would precede a mnemonic.
            let title = entry.title.replacing("_", with: "__")
            let item = Object(owning: g_menu_item_new(title, nil))
            g_menu_item_set_action_and_target_value(
                item.opaque, "menu.perform", g_variant_new_int32(Int32(actions.count)))
            if !entry.key.isEmpty { set("accel", entry.key, of: item) }
            if !entry.icon.isEmpty { set("verb-icon", entry.icon, of: item) }
            g_menu_append_item(menu.opaque, item.opaque)
            actions.append(entry.action)
        }
    }

    private func set(_ attribute: String, _ value: String, of item: Object) {
        g_menu_item_set_attribute_value(item.opaque, attribute, g_variant_new_string(value))
    }

    /// Remembers the focus, which returns when the menu closes.
    fileprivate func rememberFocus(of window: OpaquePointer?) {
        previousFocus = window.flatMap { gtk_root_get_focus($0) }
            .map { Object(sinking: UnsafeMutableRawPointer($0)) }
    }

    /// Opens the menu.
    ///
    /// - Parameters:
    ///   - box: A box, which owns the menu from then on.
    ///   - target: The widget inside of the box that the menu belongs to.
    ///   - point: A point of the target; nil for its middle.
    package func open(in box: Box, at target: Widget, _ point: (x: Double, y: Double)?) {
        if gtk_widget_get_parent(widget) == nil { gtk_widget_set_parent(widget, box.widget) }
        rememberFocus(of: gtk_widget_get_root(widget))
        let point = point ?? (Double(target.width) / 2, Double(target.height) / 2)
        var x = 0.0
        var y = 0.0
        gtk_widget_translate_coordinates(target.widget, box.widget, point.x, point.y, &x, &y)
        // A target that was scrolled out of sight has no place on the screen.
        var place = GdkRectangle(
            x: Int32(min(max(x, 0), Double(box.width))),
            y: Int32(min(max(y, 0), Double(box.height))), width: 1, height: 1)
        gtk_popover_set_pointing_to(cast(), &place)
        // Below the point, a menu would be cut instead of being moved up.
        gtk_popover_set_position(cast(), isRightToLeft ? GTK_POS_LEFT : GTK_POS_RIGHT)
        gtk_widget_set_valign(widget, GTK_ALIGN_START)
        gtk_popover_popup(cast())
    }
}

/// A button that opens a menu.
package final class MenuButton: Widget {
    package let menu = Menu()
    /// Called before the menu opens.
    package var onOpen: (Menu) -> Void = { _ in }

    package init(icon: String, tooltip: String) {
        super.init(gtk_menu_button_new())
        gtk_menu_button_set_icon_name(opaque, icon)
        gtk_menu_button_set_popover(opaque, menu.widget)
        setName(tooltip)
        gtk_menu_button_set_create_popup_func(
            opaque, { _, context in HandlerContext<Void>.call(context, ()) },
            HandlerContext<Void>.retained { [weak self] in
                guard let self else { return }
                menu.rememberFocus(of: gtk_widget_get_root(widget))
                onOpen(menu)
            }, { HandlerContext<Void>.release($0) })
    }

    package func open() { gtk_menu_button_popup(opaque) }
}
