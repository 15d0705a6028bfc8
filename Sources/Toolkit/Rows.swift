internal import CAdwaita

/// A list of rows, which is one stop of the key Tab; the arrow keys move between the rows and their buttons.
package final class RowList: Widget {
    package init() {
        super.init(gtk_list_box_new())
        gtk_list_box_set_selection_mode(opaque, GTK_SELECTION_NONE)
        // The handler lives as long as the widget, and this object may not.
        onKey(beforeChildren: true) { [widget] key in
            guard ["Tab", "ISO_Left_Tab"].contains(key) else { return false }
            let window = UnsafeMutablePointer<GtkWidget>(gtk_widget_get_root(widget))
            let direction = key == "Tab" ? GTK_DIR_TAB_FORWARD : GTK_DIR_TAB_BACKWARD
            // Nothing else in the window may take the focus.
            for _ in 0..<1000 where Widget.hasFocusWithin(widget) {
                gtk_widget_child_focus(window, direction)
            }
            return true
        }
    }

    package func append(_ row: Widget) { gtk_list_box_append(opaque, row.widget) }
    package func removeAll() {
        while let row = gtk_widget_get_first_child(widget) { gtk_list_box_remove(opaque, row) }
    }
}

/// A row with a title, a subtitle and widgets.
package final class ActionRow: Widget {
    package init(_ title: String, subtitle: String = "") {
        super.init(adw_action_row_new())
        // The strings of services are plain text.
        adw_preferences_row_set_use_markup(cast(), 0)
        setTitle(title, subtitle: subtitle)
    }

    /// Creates a row with a switch.
    package convenience init(_ title: String, isOn: Bool, _ action: @escaping (Bool) -> Void) {
        self.init(title)
        let control = Widget(gtk_switch_new()).aligned(.end, .center)
        gtk_switch_set_active(control.opaque, isOn ? 1 : 0)
        addSuffix(control)
        adw_action_row_set_activatable_widget(cast(), control.widget)
        control.connect("notify::active") { action(gtk_switch_get_active($0.sender) != 0) }
    }

    package func setTitle(_ title: String, subtitle: String = "") {
        adw_preferences_row_set_title(cast(), title)
        adw_action_row_set_subtitle(cast(), subtitle)
        gtk_accessible_reset_relation(opaque, GTK_ACCESSIBLE_RELATION_LABELLED_BY)
        setAccessibleName(subtitle.isEmpty ? title : "\(title), \(subtitle)")
    }
    /// Marks the row, regardless of the focus, which selects a row in the selection modes of GTK.
    package func setSelected(_ isSelected: Bool) {
        setAccessibleSelected(isSelected)
        if isSelected {
            gtk_widget_set_state_flags(widget, GTK_STATE_FLAG_SELECTED, 0)
        } else {
            gtk_widget_unset_state_flags(widget, GTK_STATE_FLAG_SELECTED)
        }
    }
    package func addPrefix(_ child: Widget) { adw_action_row_add_prefix(cast(), child.widget) }
    package func addSuffix(_ child: Widget) { adw_action_row_add_suffix(cast(), child.widget) }

    /// Calls `handler` when the user activates the row.
    package func onActivate(_ handler: @escaping () -> Void) {
        gtk_list_box_row_set_activatable(cast(), 1)
        connect("activated") { _ in handler() }
    }
}

/// A row with a text field.
package final class EntryRow: Widget {
    package init(_ title: String, isPassword: Bool = false) {
        super.init(isPassword ? adw_password_entry_row_new() : adw_entry_row_new())
        adw_preferences_row_set_title(cast(), markup(title))
        gtk_accessible_reset_relation(opaque, GTK_ACCESSIBLE_RELATION_LABELLED_BY)
        setAccessibleName(title)
    }

    package var text: String {
        get { Toolkit.text(gtk_editable_get_text(opaque)) }
        set { gtk_editable_set_text(opaque, newValue) }
    }
    package func onChange(_ handler: @escaping () -> Void) { connect("changed") { _ in handler() } }
    /// Calls `handler` when the user presses Enter.
    package func onSubmit(_ handler: @escaping () -> Void) {
        connect("entry-activated") { _ in handler() }
    }
    /// Shows a button to apply a changed text, which `handler` receives.
    package func onApply(_ handler: @escaping (String) -> Void) {
        adw_entry_row_set_show_apply_button(cast(), 1)
        connect("apply") { call in handler(Toolkit.text(gtk_editable_get_text(call.sender))) }
    }
}

/// A row with a choice of texts.
package final class ComboRow: Widget {
    /// - Parameters:
    ///   - title: The title.
    ///   - choices: The texts.
    ///   - selected: The index of the selected text.
    ///   - action: Receives the index of another text that the user selects.
    package init(
        _ title: String, _ choices: [String], _ selected: Int, _ action: @escaping (Int) -> Void
    ) {
        super.init(adw_combo_row_new())
        adw_preferences_row_set_title(cast(), markup(title))
        let list = gtk_string_list_new(nil)
        for choice in choices { gtk_string_list_append(list, choice) }
        adw_combo_row_set_model(cast(), list)
        g_object_unref(list.map { UnsafeMutableRawPointer($0) })
        adw_combo_row_set_selected(cast(), guint(selected))
        // In a narrow window with large text, the title and the choice have no place beside each other.
        adw_combo_row_set_use_subtitle(cast(), 1)
        // libadwaita 1.7 does not show the first choice.
        adw_action_row_set_subtitle(cast(), choices[selected])
        connect("notify::selected") { call in
            let index = Int(adw_combo_row_get_selected(UnsafeMutablePointer(call.sender)))
            adw_action_row_set_subtitle(UnsafeMutablePointer(call.sender), choices[index])
            action(index)
        }
    }
}

/// Rows with a title above them.
package final class RowGroup: Widget {
    package init(_ title: String = "", _ rows: Widget...) {
        super.init(adw_preferences_group_new())
        adw_preferences_group_set_title(cast(), markup(title))
        for row in rows { add(row: row) }
    }

    package func setDescription(_ text: String) {
        adw_preferences_group_set_description(cast(), markup(text))
    }
    package func add(row: Widget) { adw_preferences_group_add(cast(), row.widget) }
}
