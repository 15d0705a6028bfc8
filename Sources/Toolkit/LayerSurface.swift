internal import CAdwaita
internal import Glibc

/// A window below all others on Wayland compositors with the layer shell protocol, by the library gtk4-layer-shell.
///
/// The library is not required. It replaces functions of libwayland-client, and therefore has to be loaded before it.
///
/// Source: https://github.com/wmww/gtk4-layer-shell, `gtk4-layer-shell.h` and `linking.md`.
@MainActor
package struct LayerSurface {
    private nonisolated static let library = "libgtk4-layer-shell.so.0"
    private nonisolated static let variable = "LD_PRELOAD"
    private static let (leftEdge, topEdge): (Int32, Int32) = (0, 2)
    private static let bottomLayer: Int32 = 1
    private static let keyboardOnDemand: Int32 = 2

    private var functions = shim_layer()
    private let window: UnsafeMutableRawPointer
    /// The distance of the window from the left and the top of the screen.
    package private(set) var position = (x: 0, y: 0)

    /// Starts the program again with the library, if it is a Wayland session and the library is installed. For use before
    /// other threads and the display.
    package nonisolated static func loadLibrary() {
        let preloaded = getenv(variable).map { String(cString: $0) } ?? ""
        if preloaded.contains(library) {
            // Programs that this one starts do not need the library.
            let others = preloaded.split(separator: ":").filter { $0 != library }
            if others.isEmpty {
                unsetenv(variable)
            } else {
                setenv(variable, others.joined(separator: ":"), 1)
            }
            return
        }
        guard getenv("WAYLAND_DISPLAY") != nil, let handle = dlopen(library, RTLD_LAZY) else {
            return
        }
        dlclose(handle)
        setenv(variable, preloaded.isEmpty ? library : "\(library):\(preloaded)", 1)
        execv("/proc/self/exe", CommandLine.unsafeArgv)
        // The program continues without the library.
        unsetenv(variable)
    }

    /// Makes a window a layer surface; nil without the library or a compositor that supports it. For use before the window
    /// is shown.
    package init?(_ window: Window, name: String) {
        guard shim_layer_load(&functions, nil) == nil, functions.gtk_layer_is_supported() != 0
        else {
            return nil
        }
        self.window = window.raw
        functions.gtk_layer_init_for_window(window.raw)
        functions.gtk_layer_set_namespace(window.raw, name)
        functions.gtk_layer_set_layer(window.raw, Self.bottomLayer)
        functions.gtk_layer_set_keyboard_mode(window.raw, Self.keyboardOnDemand)
        for edge in [Self.leftEdge, Self.topEdge] {
            functions.gtk_layer_set_anchor(window.raw, edge, 1)
        }
    }

    package mutating func move(x: Int, y: Int) {
        position = (max(0, x), max(0, y))
        functions.gtk_layer_set_margin(window, Self.leftEdge, Int32(clamping: position.x))
        functions.gtk_layer_set_margin(window, Self.topEdge, Int32(clamping: position.y))
    }
}
