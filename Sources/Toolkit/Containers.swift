internal import CAdwaita

/// Pages, one of which is visible.
///
/// The others are hidden also from screen readers, to which GTK 4.8 shows all pages of a stack.
package final class Stack: Widget {
    private let pages: KeyValuePairs<String, Widget>

    /// - Parameters:
    ///   - pages: The pages with their names. The first one is visible.
    ///   - isFading: True to fade from one page to the other, unless the user turned animations off.
    package init(_ pages: KeyValuePairs<String, Widget>, isFading: Bool = false) {
        self.pages = pages
        super.init(gtk_stack_new())
        for (name, page) in pages { gtk_stack_add_named(opaque, page.widget, name) }
        gtk_stack_set_hhomogeneous(opaque, 0)
        if isFading { gtk_stack_set_transition_type(opaque, GTK_STACK_TRANSITION_TYPE_CROSSFADE) }
        onChange(of: "transition-running") { [weak self] in self?.hideOthers() }
        hideOthers()
    }

    private func hideOthers() {
        guard gtk_stack_get_transition_running(opaque) == 0 else { return }
        for (name, page) in pages where name != visiblePage { page.isVisible = false }
    }

    package var visiblePage: String {
        get { text(gtk_stack_get_visible_child_name(opaque)) }
        set {
            pages.first { $0.key == newValue }?.value.isVisible = true
            gtk_stack_set_visible_child_name(opaque, newValue)
            hideOthers()
        }
    }
}

/// Two pages side by side, of which a narrow window shows one.
package final class Leaflet: Widget {
    package init(_ pages: Widget...) {
        super.init(adw_leaflet_new())
        adw_leaflet_set_can_navigate_back(opaque, 1)
        for page in pages { adw_leaflet_append(opaque, page.widget) }
    }

    package func show(_ page: Widget) { adw_leaflet_set_visible_child(opaque, page.widget) }
    /// True if only one page is visible.
    package var isFolded: Bool { adw_leaflet_get_folded(opaque) != 0 }
    package func onFold(_ handler: @escaping () -> Void) { onChange(of: "folded", handler) }
}

/// A page beside the content, which slides over it in a narrow window.
package final class Flap: Widget {
    package init(content: Widget, flap: Widget, atEnd: Bool) {
        super.init(adw_flap_new())
        adw_flap_set_content(opaque, content.widget)
        adw_flap_set_flap(opaque, flap.widget)
        adw_flap_set_flap_position(opaque, atEnd ? GTK_PACK_END : GTK_PACK_START)
        adw_flap_set_reveal_flap(opaque, 0)
        adw_flap_set_swipe_to_open(opaque, 0)
    }

    package var isRevealed: Bool {
        get { adw_flap_get_reveal_flap(opaque) != 0 }
        set { adw_flap_set_reveal_flap(opaque, newValue ? 1 : 0) }
    }
    package func onReveal(_ handler: @escaping () -> Void) { onChange(of: "reveal-flap", handler) }
}

extension Widget {
    /// Returns a widget of the size of this one, with others above it.
    package func overlaid(with overlays: Widget...) -> Widget {
        let overlay = Widget(gtk_overlay_new())
        gtk_overlay_set_child(overlay.opaque, widget)
        for other in overlays { gtk_overlay_add_overlay(overlay.opaque, other.widget) }
        return overlay
    }

    /// Returns a widget that limits the width of this one.
    package func clamped(to maximumWidth: Int) -> Widget {
        let clamp = Widget(adw_clamp_new())
        adw_clamp_set_child(clamp.opaque, widget)
        adw_clamp_set_maximum_size(clamp.opaque, Int32(maximumWidth))
        return clamp
    }

    /// Returns a widget that shows this one only if there is enough width.
    package func hiddenIfNarrow() -> Widget {
        let squeezer = Widget(adw_squeezer_new())
        adw_squeezer_add(squeezer.opaque, widget)
        adw_squeezer_add(squeezer.opaque, gtk_box_new(GTK_ORIENTATION_HORIZONTAL, 0))
        adw_squeezer_set_homogeneous(squeezer.opaque, 0)
        return squeezer
    }

    /// Returns a title with this widget below, which it shows or hides.
    package func expandable(_ title: String) -> Widget {
        let expander = Widget(gtk_expander_new(title))
        gtk_expander_set_child(expander.opaque, margins(horizontal: 0, vertical: 12).widget)
        return expander
    }
}

/// A widget that slides in and out.
///
/// It is hidden while it is out, also from screen readers, to which GTK 4.8 shows it nevertheless.
package final class Revealer: Widget {
    /// The content; nil for none. It is visible again after it was replaced.
    package var child: Widget? {
        didSet {
            gtk_revealer_set_child(opaque, child?.widget)
            oldValue?.isVisible = true
            child?.isVisible = isRevealed
        }
    }

    package init(_ child: Widget? = nil) {
        self.child = child
        super.init(gtk_revealer_new())
        gtk_revealer_set_child(opaque, child?.widget)
        child?.isVisible = false
        onChange(of: "child-revealed") { [weak self] in
            guard let self, gtk_revealer_get_reveal_child(opaque) == 0,
                gtk_revealer_get_child_revealed(opaque) == 0
            else { return }
            self.child?.isVisible = false
        }
    }

    package var isRevealed: Bool {
        get { gtk_revealer_get_reveal_child(opaque) != 0 }
        set {
            if newValue { child?.isVisible = true }
            gtk_revealer_set_reveal_child(opaque, newValue ? 1 : 0)
        }
    }
}

/// The bar at the top of a window or page.
package final class HeaderBar: Widget {
    private let title = Label().ellipsizing(atStart: false).styled("title")
    private let subtitle = Label().ellipsizing(atStart: false).styled("subtitle")
    private lazy var titles = Box(.vertical, title, subtitle).aligned(.fill, .center)

    package init() {
        super.init(adw_header_bar_new())
        adw_header_bar_set_title_widget(opaque, titles.widget)
        setTitle("", subtitle: "")
    }

    /// Sets the title, and the subtitle unless it is nil.
    package func setTitle(_ title: String, subtitle: String? = nil) {
        self.title.text = title
        guard let subtitle else { return }
        self.subtitle.text = subtitle
        self.subtitle.isVisible = !subtitle.isEmpty
    }
    package func addStart(_ child: Widget) { adw_header_bar_pack_start(opaque, child.widget) }
    /// Adds widgets, the first one at the end.
    package func addEnd(_ children: Widget...) {
        for child in children { adw_header_bar_pack_end(opaque, child.widget) }
    }
    package func remove(_ child: Widget) { adw_header_bar_remove(opaque, child.widget) }
    package func showsButtons(start: Bool, end: Bool) {
        adw_header_bar_set_show_start_title_buttons(opaque, start ? 1 : 0)
        adw_header_bar_set_show_end_title_buttons(opaque, end ? 1 : 0)
    }
}

/// The cases have the values of `GtkOrientation`.
package enum Orientation: UInt32, Sendable { case horizontal, vertical }

/// Widgets in a row or column.
package final class Box: Widget {
    package init(_ orientation: Orientation, spacing: Int = 0, _ children: Widget...) {
        super.init(gtk_box_new(GtkOrientation(orientation.rawValue), Int32(spacing)))
        for child in children { append(child) }
    }

    package func append(_ children: Widget...) {
        for child in children { gtk_box_append(cast(), child.widget) }
    }
    package func prepend(_ child: Widget) { gtk_box_prepend(cast(), child.widget) }
    package func remove(_ child: Widget) { gtk_box_remove(cast(), child.widget) }
    package func removeAll() {
        while let child = gtk_widget_get_first_child(widget) { gtk_box_remove(cast(), child) }
    }
}
