package import DBus

/// `org.imagefeed.ImageFeed1.Slideshow`.
///
/// The calls that show another photo have no time limit, because they wait for its image.
@MainActor
package struct SlideshowClient {
    let proxy: BusProxy

    package var path: ObjectPath { proxy.path }

    package func properties() async throws -> SlideshowProperties {
        SlideshowProperties(path, try await proxy.properties(.slideshow))
    }

    /// Calls `handler` with the changed properties until the returned subscription is released.
    package func watch(
        _ handler: @escaping ([String: Variant]) -> Void
    ) async throws -> SignalSubscription {
        try await proxy.watch(.slideshow, handler)
    }

    /// Calls `handler` with true when the daemon creates the slideshow, and with false when it removes it, until the
    /// returned subscription is released.
    package func watchExistence(
        _ handler: @escaping (Bool) -> Void
    ) async throws -> SignalSubscription {
        let rule = MatchRule(
            sender: ServiceName.bus, path: ServiceName.root,
            interface: "org.freedesktop.DBus.ObjectManager")
        return try await proxy.connection.subscribe(rule) { signal in
            let added: (ObjectPath, [String: [String: Variant]])? = try? signal.read()
            let removed: (ObjectPath, [String])? = try? signal.read()
            guard (added?.0 ?? removed?.0) == path else { return }
            handler(added != nil)
        }
    }

    package func next() async throws { try await proxy.perform(.slideshow, .next, timeout: nil) }
    package func previous() async throws {
        try await proxy.perform(.slideshow, .previous, timeout: nil)
    }

    /// Makes a photo current, which is given by its ID of the combined account.
    package func show(_ photo: String) async throws {
        try await proxy.perform(.slideshow, .show, photo, timeout: nil)
    }

    /// Excludes a photo from the slideshow, which is given by its ID of the combined account.
    package func hide(_ photo: String) async throws {
        try await proxy.perform(.slideshow, .hide, photo, timeout: nil)
    }
    package func unhide(_ photo: String) async throws {
        try await proxy.perform(.slideshow, .unhide, photo)
    }

    /// Keeps the timer running until ``detach()`` or until this connection ends.
    package func attach() async throws {
        try await proxy.perform(.slideshow, .attach, timeout: nil)
    }

    /// Ends the effect of ``attach()``. The time limit is short, because the end of the connection has the same effect.
    package func detach() async throws {
        try await proxy.perform(.slideshow, .detach, timeout: .seconds(2))
    }

    package func setPaused(_ isPaused: Bool) async throws {
        try await proxy.set(.slideshow, .paused, to: isPaused)
    }
    package func setInterval(_ seconds: UInt32) async throws {
        try await proxy.set(.slideshow, .interval, to: seconds)
    }
    package func setShuffle(_ isShuffled: Bool) async throws {
        try await proxy.set(.slideshow, .shuffle, to: isShuffled)
    }

    /// Sets the photos that the slideshow shows: those of one source.
    ///
    /// - Parameters:
    ///   - account: The path of an account or of the combined account.
    ///   - source: The ID of a source; empty for the default source.
    /// - Throws: ``BusError``.
    package func setSource(_ account: ObjectPath, _ source: String) async throws {
        try await proxy.set(.slideshow, .source, to: BusStruct(account, source))
    }

    /// Sets the sources whose photos follow one another; see ``setSource(_:_:)``.
    package func setSources(_ sources: [(account: ObjectPath, source: String)]) async throws {
        try await proxy.set(
            .slideshow, .sources, to: sources.map { BusStruct($0.account, $0.source) })
    }
    package func setOrientation(_ orientation: String) async throws {
        try await proxy.set(.slideshow, .orientation, to: orientation)
    }

    /// Deletes the slideshow, which must not be the default one.
    package func remove() async throws { try await proxy.perform(.slideshow, .remove) }
    package func setImageSize(_ size: String) async throws {
        try await proxy.set(.slideshow, .imageSize, to: size)
    }
}

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
