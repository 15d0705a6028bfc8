internal import CAdwaita

/// A window.
package final class Window: Widget {
    /// Called when the user closes the window. Returns true to keep it open.
    package var onClose: (() -> Bool)?
    /// Zero if the screen may turn off, or if the desktop cannot prevent it.
    private var inhibition: guint = 0

    var window: UnsafeMutablePointer<GtkWindow> { cast() }

    /// Creates a main window.
    package init(_ application: Application, title: String, width: Int, height: Int) {
        super.init(adw_application_window_new(application.cast()))
        configure(title, width, height)
    }

    /// Creates a dialog above another window.
    package init(dialogOf parent: Window, title: String, width: Int, height: Int = -1) {
        super.init(adw_window_new())
        configure(title, width, height)
        gtk_window_set_transient_for(window, parent.window)
        gtk_window_set_modal(window, 1)
        gtk_window_set_destroy_with_parent(window, 1)
        onKey { [unowned(unsafe) self] key in
            guard key == "Escape" else { return false }
            close()
            return true
        }
    }

    private func configure(_ title: String, _ width: Int, _ height: Int) {
        gtk_window_set_title(window, title)
        gtk_window_set_default_size(window, Int32(width), Int32(height))
        // The handlers end with the window, which its owner keeps until then.
        connect("close-request") { [unowned(unsafe) self] call in call.reply(onClose?() ?? false) }
    }

    package var title: String {
        get { text(gtk_window_get_title(window)) }
        set { gtk_window_set_title(window, newValue) }
    }
    package func setContent(_ content: Widget) {
        if shim_is(raw, adw_application_window_get_type()) != 0 {
            adw_application_window_set_content(cast(), content.widget)
        } else {
            adw_window_set_content(cast(), content.widget)
        }
    }
    package func present() { gtk_window_present(window) }
    package func close() { gtk_window_close(window) }
    package func destroy() { gtk_window_destroy(window) }
    package var isFullScreen: Bool {
        get { gtk_window_is_fullscreen(window) != 0 }
        set { (newValue ? gtk_window_fullscreen : gtk_window_unfullscreen)(window) }
    }
    package func onFullScreenChange(_ handler: @escaping () -> Void) {
        onChange(of: "fullscreened", handler)
    }
    /// True if the focus is shown, because the user moved it with the keyboard.
    package var isFocusVisible: Bool { gtk_window_get_focus_visible(window) != 0 }
    package var isMaximized: Bool { gtk_window_is_maximized(window) != 0 }
    package func maximize() { gtk_window_maximize(window) }
    /// The size of the window, also while it is maximized or in full screen.
    package var restoredSize: (width: Int, height: Int) {
        var width: Int32 = 0
        var height: Int32 = 0
        gtk_window_get_default_size(window, &width, &height)
        return (Int(width), Int(height))
    }

    /// Prevents the screen from turning off, or allows it again.
    package func inhibitIdle(_ isInhibited: Bool) {
        let application = gtk_window_get_application(window)
        if inhibition != 0 { gtk_application_uninhibit(application, inhibition) }
        inhibition =
            isInhibited
            ? gtk_application_inhibit(application, window, GTK_APPLICATION_INHIBIT_IDLE, nil) : 0
    }

    /// Copies text to the clipboard.
    package func copy(_ text: String) {
        gdk_clipboard_set_text(gtk_widget_get_clipboard(widget), text)
    }

    /// Copies an image to the clipboard, which keeps it in memory.
    package func copy(_ texture: Texture) {
        gdk_clipboard_set_texture(gtk_widget_get_clipboard(widget), texture.raw)
    }
}
