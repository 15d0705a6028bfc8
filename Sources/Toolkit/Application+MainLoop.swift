internal import CAdwaita
internal import Glibc
internal import System

// The source by which GLib's event loop serves ``MainLoop``: the main queue, descriptors and timers.
extension Application {
    private static var tags: [UnsafeMutableRawPointer] = []
    private static let sourceFunctions = GSourceFuncs(
        prepare: { source, timeout in
            nonisolated(unsafe) let parameters = (source, timeout)
            MainActor.assumeIsolated {
                updateSource(parameters.0)
                parameters.1?.pointee = MainLoop.timeoutMilliseconds
            }
            return timeout?.pointee == 0 ? 1 : 0
        },
        check: { source in
            nonisolated(unsafe) let source = source
            return MainActor.assumeIsolated { isReady(source) } ? 1 : 0
        },
        dispatch: { _, _, _ in
            MainActor.assumeIsolated { MainLoop.runOnce() }
            return 1
        },
        finalize: nil, closure_callback: nil, closure_marshal: nil)

    /// Adds the source for the lifetime of the process.
    static func attachMainLoop() {
        // The source refers to the functions as long as the process runs.
        let functions = UnsafeMutablePointer<GSourceFuncs>.allocate(capacity: 1)
        functions.initialize(to: sourceFunctions)
        let source = g_source_new(functions, guint(MemoryLayout<GSource>.size))
        g_source_attach(source, nil)
        // Work that was queued before the descriptor was requested does not make it ready.
        MainLoop.runQueued()
    }

    private static func updateSource(_ source: UnsafeMutablePointer<GSource>?) {
        guard let descriptors = MainLoop.changedDescriptors() else { return }
        for tag in tags { g_source_remove_unix_fd(source, tag) }
        tags = descriptors.compactMap {
            let condition = $0.events == Int16(POLLIN) ? G_IO_IN : G_IO_OUT
            return g_source_add_unix_fd(source, $0.descriptor, condition)
        }
    }

    private static func isReady(_ source: UnsafeMutablePointer<GSource>?) -> Bool {
        MainLoop.timeoutMilliseconds == 0
            || tags.contains { g_source_query_unix_fd(source, $0).rawValue != 0 }
    }
}
