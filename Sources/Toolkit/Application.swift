internal import CAdwaita
internal import Glibc

/// The application: one instance per session, which other invocations call over D-Bus.
package final class Application: Object {
    /// Called in the first instance with the arguments of each invocation, without the program's name, and with its
    /// working directory; also with the absolute paths of files that the desktop opens over D-Bus.
    package var onCommandLine: (([String], _ folder: String) -> Void)?
    /// Called once, before the first window.
    package var onStart: (() -> Void)?

    package init(id: String) {
        Self.avoidUnusedGL()
        let flags = GApplicationFlags(
            G_APPLICATION_HANDLES_COMMAND_LINE.rawValue | G_APPLICATION_HANDLES_OPEN.rawValue)
        super.init(owning: UnsafeMutableRawPointer(adw_application_new(id, flags)))
        connect("startup") { [unowned self] _ in
            // Otherwise a dialog opens with its first selectable text selected.
            let settings = UnsafeMutableRawPointer(gtk_settings_get_default())
            shim_set_flag(settings, "gtk-label-select-on-focus", 0)
            onStart?()
        }
        connect("activate") { [unowned self] _ in onCommandLine?([], "/") }
        connect("open") { [unowned self] call in
            let files = call.pointer(1)?.assumingMemoryBound(to: OpaquePointer?.self)
            let paths = (0..<call.int(2)).map { text(taking: g_file_get_path(files?[$0])) }
                .filter { !$0.isEmpty }
            if !paths.isEmpty { onCommandLine?(paths, "/") }
        }
        connect("command-line") { [unowned self] call in
            var count: Int32 = 0
            let line = call.object(1)?.assumingMemoryBound(to: GApplicationCommandLine.self)
            let list = g_application_command_line_get_arguments(line, &count)
            let arguments = (1..<max(1, Int(count))).map { text(list?[$0]) }
            g_strfreev(list)
            onCommandLine?(arguments, text(g_application_command_line_get_cwd(line)))
            call.reply(0 as Int32)
        }
    }

    /// Prevents GDK from loading the OpenGL libraries if the user chose the renderer without OpenGL.
    ///
    /// GDK loads them with the first window in any case; a software driver takes more than 50 MB.
    private static func avoidUnusedGL() {
        guard getenv("GSK_RENDERER").map({ String(cString: $0) }) == "cairo" else { return }
        // Since GTK 4.16, a separate variable disables features.
        let (name, value) =
            gtk_get_minor_version() < 16
            ? ("GDK_DEBUG", "gl-disable") : ("GDK_DISABLE", "gl,vulkan")
        let others = getenv(name).map { String(cString: $0) + "," } ?? ""
        setenv(name, others + value, 1)
    }

    /// Runs the event loop until the last window is closed.
    ///
    /// - Returns: The exit status.
    package func run() -> Int32 {
        Self.attachMainLoop()
        return g_application_run(cast(), CommandLine.argc, CommandLine.unsafeArgv)
    }

    /// Adds the application action `app.NAME`, which other programs call over D-Bus.
    ///
    /// - Parameters:
    ///   - name: The name.
    ///   - key: The key of the action; nil for none.
    ///   - hasText: True if other programs pass a text.
    ///   - handler: Receives the text.
    package func addAction(
        _ name: String, key: String? = nil, hasText: Bool = false,
        _ handler: @escaping (String) -> Void
    ) {
        addAction(name, type: hasText ? "s" : nil) { parameter in
            handler(text(parameter.flatMap { g_variant_get_string($0, nil) }))
        }
        key?.withCString {
            var keys = [$0, nil]
            gtk_application_set_accels_for_action(cast(), "app.\(name)", &keys)
        }
    }

    /// Adds style rules for all windows.
    package func addStyle(_ css: String) {
        guard let display = gdk_display_get_default() else { return }
        let provider = gtk_css_provider_new()
        gtk_css_provider_load_from_data(provider, css, -1)
        gtk_style_context_add_provider_for_display(
            display, OpaquePointer(provider), guint(GTK_STYLE_PROVIDER_PRIORITY_APPLICATION))
        g_object_unref(provider)
    }

    /// The name of the user's account on this computer.
    package static var userName: String { text(g_get_user_name()) }

    /// The time for the speed of movements.
    package static var seconds: Double { Double(g_get_monotonic_time()) / 1e6 }

    /// Opens an address in the user's program for it.
    ///
    /// - Parameters:
    ///   - uri: The address.
    ///   - parent: The window.
    ///   - onFailure: Called if there is no such program.
    package static func open(_ uri: String, parent: Window, onFailure: @escaping () -> Void) {
        gtk_show_uri_full(
            parent.window, uri, 0, nil,
            { source, result, context in
                let window = UnsafeMutablePointer<GtkWindow>(OpaquePointer(source))
                if gtk_show_uri_full_finish(window, result, nil) == 0 {
                    HandlerContext<Void>.call(context, ())
                }
                HandlerContext<Void>.release(context)
            }, HandlerContext.retained(onFailure))
    }
}
