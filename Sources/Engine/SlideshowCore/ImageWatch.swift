internal import Dispatch
internal import Glibc
internal import System

/// A watch of the image file of the current photo, which other programs may delete, for example with all thumbnails.
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
            let (inotify, code) = await queue.run { Self.watch(path) }
            guard path == self.path else { return }
            guard let inotify else {
                if code == ENOENT { lose(onLoss) }
                return
            }
            source = DescriptorSource(inotify.descriptor, .reading, owner: inotify) {
                [weak self] in self?.lose(onLoss)
            }
            source?.resume()
        }
    }

    private func lose(_ onLoss: () -> Void) {
        path = ""
        source?.cancel()
        source = nil
        onLoss()
    }

    private nonisolated static func watch(_ path: String) -> (inotify: Inotify?, code: Int32) {
        // The number of links of a deleted file is an attribute; the file itself may still be open.
        let events = IN_DELETE_SELF | IN_MOVE_SELF | IN_ATTRIB | IN_CLOSE_WRITE
        guard let inotify = Inotify(), inotify.add(PathBytes(path), events) != nil else {
            return (nil, errno)
        }
        return (inotify, 0)
    }
}
