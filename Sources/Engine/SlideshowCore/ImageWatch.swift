internal import Dispatch
internal import Glibc
internal import System

/// A watch of the image file of the current photo, which other programs may delete, for example with all thumbnails.
package final class ImageWatch {
    private let queue = DispatchQueue(label: "image-watch")
    private(set) var source: DescriptorSource?
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
            let (inotify, file, code) = await queue.run { Self.watch(path) }
            guard path == self.path else { return }
            guard let inotify else {
                if code == ENOENT { lose(onLoss) }
                return
            }
            source = DescriptorSource(inotify.descriptor, .reading, owner: inotify) {
                [weak self] in self?.changed(inotify, file, onLoss)
            }
            source?.resume()
        }
    }

    private func changed(
        _ inotify: Inotify, _ file: FileIdentity?, _ onLoss: @escaping () -> Void
    ) {
        var isLost = false
        inotify.read { isLost = isLost || !$0.has(IN_ATTRIB) }
        if isLost { return lose(onLoss) }
        Task { [path] in
            // The times of the file may have changed, which record the last use of a cached image.
            let isOther = await queue.run {
                FileStatus(path).map { $0.identity != file } ?? (errno == ENOENT)
            }
            if isOther, source?.descriptor == inotify.descriptor { lose(onLoss) }
        }
    }

    private func lose(_ onLoss: () -> Void) {
        path = ""
        source?.cancel()
        source = nil
        onLoss()
    }

    private nonisolated static func watch(
        _ path: String
    ) -> (inotify: Inotify?, file: FileIdentity?, code: Int32) {
        let file = FileStatus(path)?.identity
        // The number of links of a deleted file is an attribute; the file itself may still be open.
        let events = IN_DELETE_SELF | IN_MOVE_SELF | IN_ATTRIB | IN_CLOSE_WRITE
        guard let inotify = Inotify(), inotify.add(PathBytes(path), events) != nil else {
            return (nil, file, errno)
        }
        return (inotify, file, 0)
    }
}
