internal import Glibc

/// An inotify instance, which is closed with the last reference.
///
/// Source: inotify(7).
package final class Inotify: Sendable {
    /// The number of a watch.
    package typealias Watch = Int32

    /// A change of a watched file or folder.
    package struct Event {
        /// The watch; -1 if events were lost.
        package let watch: Watch
        /// The number that both events of a move have; otherwise 0.
        package let cookie: UInt32
        /// The name of the file in the watched folder; empty for a change of the watched file or folder.
        package let name: [UInt8]
        private let mask: UInt32

        fileprivate init(_ event: inotify_event, name: some Sequence<UInt8>) {
            (watch, cookie, mask) = (event.wd, event.cookie, event.mask)
            self.name = Array(name)
        }

        /// Returns true if the event has one of these flags, such as `IN_CREATE`.
        package func has(_ flags: Int32) -> Bool { mask & UInt32(flags) != 0 }
    }

    /// Can be read after an event.
    package let descriptor: Int32

    /// Creates an instance without watches; nil, with `errno`, if the user has no more of them.
    package init?() {
        descriptor = inotify_init1(Int32(IN_NONBLOCK | IN_CLOEXEC))
        if descriptor < 0 { return nil }
    }

    deinit { close(descriptor) }

    /// Watches a file or folder. May block for as long as the file system does not respond.
    ///
    /// - Parameters:
    ///   - path: The path. A second path of the same file has the same watch.
    ///   - flags: The events, and other flags, such as `IN_ONLYDIR`.
    /// - Returns: The watch; nil, with `errno`, if there is none.
    package func add(_ path: PathBytes, _ flags: Int32) -> Watch? {
        let watch = path.withCString {
            inotify_add_watch(descriptor, $0, UInt32(bitPattern: flags))
        }
        return watch < 0 ? nil : watch
    }

    package func remove(_ watch: Watch) { inotify_rm_watch(descriptor, watch) }

    /// Calls `body` with the events until now.
    package func read(_ body: (Event) -> Void) {
        let headerBytes = MemoryLayout<inotify_event>.size
        withUnsafeTemporaryAllocation(byteCount: 65536, alignment: 8) { buffer in
            while true {
                let count = Glibc.read(descriptor, buffer.baseAddress, buffer.count)
                guard count > 0 else { return }
                var rest = UnsafeRawBufferPointer(rebasing: buffer[..<count])
                while rest.count >= headerBytes {
                    let event = rest.loadUnaligned(as: inotify_event.self)
                    let end = headerBytes + Int(event.len)
                    guard rest.count >= end else { break }
                    body(Event(event, name: rest[headerBytes..<end].prefix { $0 != 0 }))
                    rest = UnsafeRawBufferPointer(rebasing: rest[end...])
                }
            }
        }
    }
}
