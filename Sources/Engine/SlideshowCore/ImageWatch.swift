internal import Dispatch
internal import Glibc
internal import System

/// A watch of the image file of the current photo, which other programs may delete, for example with all thumbnails.
///
/// Source: inotify(7).
package final class ImageWatch {
    private let queue = DispatchQueue(label: "image-watch")
    private var source: DescriptorSource?
    private var path = ""

    package init() {}

    /// Watches a file instead of the previous one; empty for none. Calls `onLoss` once if the file is deleted, renamed or
    /// does not exist.
    package func watch(_ path: String, _ onLoss: @escaping () -> Void) {
        guard path != self.path else { return }
        self.path = path
        source?.cancel()
        source = nil
        guard !path.isEmpty else { return }
        Task {
            // The file system of a photo may not respond.
            let (descriptor, code) = await queue.run { Self.open(path) }
            guard path == self.path else {
                if descriptor >= 0 { close(descriptor) }
                return
            }
            guard descriptor >= 0 else {
                if code == ENOENT { lose(onLoss) }
                return
            }
            let source = DescriptorSource(descriptor, .reading) { [weak self] in
                self?.lose(onLoss)
            }
            self.source = source
            source.resume()
        }
    }

    private func lose(_ onLoss: () -> Void) {
        path = ""
        source?.cancel()
        source = nil
        onLoss()
    }

    private nonisolated static func open(_ path: String) -> (descriptor: Int32, code: Int32) {
        let descriptor = inotify_init1(Int32(IN_NONBLOCK | IN_CLOEXEC))
        guard descriptor >= 0 else { return (-1, errno) }
        // The number of links of a deleted file is an attribute; the file itself may still be open.
        let mask = UInt32(IN_DELETE_SELF | IN_MOVE_SELF | IN_ATTRIB | IN_CLOSE_WRITE)
        guard inotify_add_watch(descriptor, path, mask) < 0 else { return (descriptor, 0) }
        let code = errno
        close(descriptor)
        return (-1, code)
    }
}
