internal import CAdwaita

/// The type and position of a window on X11, which GTK 4 does not offer.
///
/// The functions are looked up in the libraries that GTK has loaded, because GTK can be built without X11.
@MainActor
package struct DesktopWindow {
    private var functions = shim_x11()
    private let display: UnsafeMutableRawPointer
    private let id: UInt

    /// Creates the window's surface; nil if the display is not X11.
    package init?(_ window: Window) {
        gtk_widget_realize(window.widget)
        guard let surface = gtk_native_get_surface(window.opaque),
            text(
                g_type_name_from_instance(Object(sinking: UnsafeMutableRawPointer(surface)).cast())
            )
            .hasPrefix("GdkX11"),
            shim_x11_load(&functions, nil) == nil,
            let display = functions.gdk_x11_display_get_xdisplay(gdk_surface_get_display(surface))
        else { return nil }
        self.display = display
        id = functions.gdk_x11_surface_get_xid(surface)
    }

    /// Makes the window a part of the desktop, below all other windows. For use before the window is shown.
    ///
    /// Source: Extended Window Manager Hints, `_NET_WM_WINDOW_TYPE`.
    package func placeOnDesktop() {
        let property = functions.XInternAtom(display, "_NET_WM_WINDOW_TYPE", 0)
        var type = functions.XInternAtom(display, "_NET_WM_WINDOW_TYPE_DESKTOP", 0)
        // The type ATOM has the number 4. The items of format 32 are longs.
        _ = functions.XChangeProperty(display, id, property, 4, 32, 0, &type, 1)
    }

    /// The position of the window on the screen; nil if it is unknown.
    package var position: (x: Int, y: Int)? {
        var x: Int32 = 0
        var y: Int32 = 0
        var child: UInt = 0
        let root = functions.XDefaultRootWindow(display)
        let isKnown =
            functions.XTranslateCoordinates(display, id, root, 0, 0, &x, &y, &child) != 0
        return isKnown ? (Int(x), Int(y)) : nil
    }

    package func move(x: Int, y: Int) {
        _ = functions.XMoveWindow(display, id, Int32(clamping: x), Int32(clamping: y))
    }
}
