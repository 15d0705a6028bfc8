internal import Dispatch
internal import Glibc

/// Tells when something in folders has changed, a moment after the last change. Sleeps otherwise.
///
/// A folder that is not there is waited for.
final class FolderWatch {
    private let folders: [String]
    private let onChange: () -> Void
    private let descriptor: Int32
    private var source: (any DispatchSourceRead)?
    private var pause: OneShotTimer?

    /// How long changes are collected: whoever unpacks files makes many.
    private static let delay = Duration.milliseconds(100)

    init(_ folders: [String], onChange: @escaping () -> Void) {
        self.folders = folders
        self.onChange = onChange
        descriptor = inotify_init1(Int32(IN_NONBLOCK | IN_CLOEXEC))
        guard descriptor >= 0 else { return }
        let source = DispatchSource.makeReadSource(fileDescriptor: descriptor, queue: .main)
        source.setEventHandler { [unowned self] in read() }
        source.setCancelHandler { [descriptor] in close(descriptor) }
        source.activate()
        self.source = source
        watch()
    }

    isolated deinit { source?.cancel() }

    private func watch() {
        let changes =
            IN_CREATE | IN_MOVED_TO | IN_MOVED_FROM | IN_DELETE | IN_CLOSE_WRITE
            | IN_ATTRIB
        for folder in folders where !add(folder, changes) {
            // As far as the way there exists.
            var path = folder[...]
            while let end = path.lastIndex(of: "/"), end > path.startIndex {
                path = path[..<end]
                if add(String(path), IN_CREATE | IN_MOVED_TO) { break }
            }
        }
    }

    private func add(_ path: String, _ mask: Int32) -> Bool {
        inotify_add_watch(descriptor, path, UInt32(mask) | UInt32(IN_ONLYDIR)) >= 0
    }

    private func read() {
        withUnsafeTemporaryAllocation(byteCount: 1 << 14, alignment: 8) { buffer in
            while Glibc.read(descriptor, buffer.baseAddress, buffer.count) > 0 {}
        }
        pause = OneShotTimer(after: Self.delay) { [unowned self] in
            // What was not there before may be now.
            watch()
            onChange()
        }
    }
}
