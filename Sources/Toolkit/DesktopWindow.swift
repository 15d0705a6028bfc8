internal import CAdwaita
internal import Glibc

/// The type and position of a window on X11, which GTK 4 does not offer.
///
/// The functions are looked up in the libraries that GTK has loaded, because GTK can be built without X11.
@MainActor
package struct DesktopWindow {
    private typealias SurfaceID = @convention(c) (OpaquePointer?) -> UInt
    private typealias NativeDisplay = @convention(c) (OpaquePointer?) -> OpaquePointer?
    private typealias InternAtom =
        @convention(c) (OpaquePointer?, UnsafePointer<CChar>, Int32) -> UInt
    private typealias ChangeProperty =
        @convention(c) (
            OpaquePointer?, UInt, UInt, UInt, Int32, Int32, UnsafeRawPointer, Int32
        ) -> Int32
    private typealias MoveWindow = @convention(c) (OpaquePointer?, UInt, Int32, Int32) -> Int32
    private typealias TranslateCoordinates =
        @convention(c) (
            OpaquePointer?, UInt, UInt, Int32, Int32, UnsafeMutablePointer<Int32>,
            UnsafeMutablePointer<Int32>,
            UnsafeMutablePointer<UInt>
        ) -> Int32
    private typealias RootWindow = @convention(c) (OpaquePointer?) -> UInt

    private let display: OpaquePointer
    private let id: UInt

    /// Creates the window's surface; nil if the display is not X11.
    package init?(_ window: Window) {
        gtk_widget_realize(window.widget)
        guard let surface = gtk_native_get_surface(window.opaque),
            text(
                g_type_name_from_instance(
                    UnsafeMutableRawPointer(surface).assumingMemoryBound(to: GTypeInstance.self))
            )
            .hasPrefix("GdkX11"),
            let surfaceID: SurfaceID = Self.function("gdk_x11_surface_get_xid"),
            let nativeDisplay: NativeDisplay = Self.function("gdk_x11_display_get_xdisplay"),
            let display = nativeDisplay(gdk_surface_get_display(surface))
        else { return nil }
        self.display = display
        id = surfaceID(surface)
    }

    /// Makes the window a part of the desktop, below all other windows. For use before the window is shown.
    ///
    /// Source: Extended Window Manager Hints, `_NET_WM_WINDOW_TYPE`.
    package func placeOnDesktop() {
        guard let internAtom: InternAtom = Self.function("XInternAtom"),
            let changeProperty: ChangeProperty = Self.function("XChangeProperty")
        else { return }
        var type = internAtom(display, "_NET_WM_WINDOW_TYPE_DESKTOP", 0)
        // The type ATOM has the number 4. The items of format 32 are longs.
        _ = changeProperty(
            display, id, internAtom(display, "_NET_WM_WINDOW_TYPE", 0), 4, 32, 0, &type, 1)
    }

    /// The position of the window on the screen; nil if it is unknown.
    package var position: (x: Int, y: Int)? {
        guard let translate: TranslateCoordinates = Self.function("XTranslateCoordinates"),
            let root: RootWindow = Self.function("XDefaultRootWindow")
        else { return nil }
        var x: Int32 = 0
        var y: Int32 = 0
        var child: UInt = 0
        guard translate(display, id, root(display), 0, 0, &x, &y, &child) != 0 else { return nil }
        return (Int(x), Int(y))
    }

    package func move(x: Int, y: Int) {
        guard let move: MoveWindow = Self.function("XMoveWindow") else { return }
        _ = move(display, id, Int32(clamping: x), Int32(clamping: y))
    }

    /// Returns a function of the loaded libraries; nil if there is none with this name.
    static func function<Function>(_ name: String) -> Function? {
        // RTLD_DEFAULT is NULL.
        dlsym(nil, name).map { unsafeBitCast($0, to: Function.self) }
    }
}
