package import DBus

/// A slideshow, as last announced by the daemon.
package struct SlideshowProperties: Equatable {
    package let path: ObjectPath
    package private(set) var properties: [String: Variant]

    package init(_ path: ObjectPath, _ properties: [String: Variant]) {
        self.path = path
        self.properties = properties
    }

    /// Applies changed properties.
    package mutating func merge(_ changes: [String: Variant]) { properties.merge(changes) { $1 } }

    /// The name; empty for the default slideshow.
    package var name: String { path == ServiceName.slideshow ? "" : path.lastElement }
    /// The current photo, with its ID of the combined account; nil if there is none.
    package var photo: PhotoEntry? { properties["Photo"]?.members.flatMap(PhotoEntry.init) }
    /// The path of the current photo's image; empty if there is no current photo.
    package var image: String { properties["Image"]?.string ?? "" }
    package var interval: UInt32 { properties["Interval"]?.uint32 ?? 0 }
    package var isPaused: Bool { properties["Paused"]?.bool ?? false }
    package var isShuffled: Bool { properties["Shuffle"]?.bool ?? false }
    package var imageSize: String { properties["ImageSize"]?.string ?? "" }
    /// The IDs of the hidden photos.
    package var hidden: [String] { properties["Hidden"]?.strings ?? [] }

    package var orientation: String { properties["Orientation"]?.string ?? "" }

    /// The sources in the form of the option `--source`: `combined`, or `ACCOUNT:SOURCE`.
    package var sources: [String] {
        var sources = [properties["Source"]].compactMap(\.self)
        if case .array(let all, _) = properties["Sources"] { sources = all }
        return sources.compactMap { source in
            guard case .structure(let fields) = source, fields.count == 2,
                let account = fields[0].objectPath, let source = fields[1].string
            else { return nil }
            let name = account == ServiceName.combined ? "combined" : account.lastElement
            return source.isEmpty ? name : "\(name):\(source)"
        }
    }
}
