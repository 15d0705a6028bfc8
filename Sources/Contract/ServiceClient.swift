package import DBus
internal import Glibc
package import ProviderKit

/// A typed client of the daemon.
///
/// Every call throws ``BusError``. ``BusError/reply(_:)`` contains the error reply of the daemon or of the bus;
/// ``ServiceError/init(_:)`` recognises the errors of this contract. The bus starts the daemon if it is not running.
@MainActor
package struct ServiceClient {
    package let connection: BusConnection

    package init(_ connection: BusConnection) { self.connection = connection }

    package func provider(_ path: ObjectPath) -> ProviderClient {
        ProviderClient(proxy: proxy(path))
    }

    package func account(_ path: ObjectPath) -> AccountClient { AccountClient(proxy: proxy(path)) }

    /// The combined account, which has only the calls of `Feed` and `Like`. Its photo IDs are `ACCOUNT_ID/PHOTO_ID`.
    package var combined: AccountClient { account(ServiceName.combined) }

    /// The default slideshow.
    package var slideshow: SlideshowClient { slideshow(ServiceName.slideshow) }

    package func slideshow(_ path: ObjectPath) -> SlideshowClient {
        SlideshowClient(proxy: proxy(path))
    }

    package func login(_ path: ObjectPath) -> LoginClient { LoginClient(proxy: proxy(path)) }

    package func transfer(_ path: ObjectPath) -> TransferClient {
        TransferClient(proxy: proxy(path))
    }

    /// Returns every provider, account and login, with their interfaces and properties.
    package func objects() async throws -> [ObjectPath: [String: [String: Variant]]] {
        try await proxy(ServiceName.root).managedObjects()
    }

    /// Reads the state of the daemon.
    package func snapshot() async throws -> DaemonMirror {
        DaemonMirror(manager: try await properties(), objects: try await objects())
    }

    // MARK: Manager

    /// Returns the properties of the interface `Manager`.
    package func properties() async throws -> [String: Variant] {
        try await proxy(ServiceName.root).properties(.manager)
    }

    /// Starts a login.
    ///
    /// - Returns: The path of the login, for ``login(_:)``.
    package func startLogin(
        _ provider: String, _ options: [LoginOption: Variant]
    ) async throws -> ObjectPath {
        let named = Dictionary(uniqueKeysWithValues: options.map { ($0.key.rawValue, $0.value) })
        return try await proxy(ServiceName.root).call(.manager, .login, provider, named)
    }

    /// Creates the slideshow with this name if necessary.
    ///
    /// - Returns: The path of the slideshow, for ``slideshow(_:)``.
    package func openSlideshow(_ name: String) async throws -> ObjectPath {
        try await proxy(ServiceName.root).call(.manager, .openSlideshow, name)
    }

    package func setDefaultAccount(_ account: ObjectPath) async throws {
        try await proxy(ServiceName.root).set(.manager, .defaultAccount, to: account)
    }

    /// Makes the daemon read the configuration files again.
    ///
    /// - Returns: False if no daemon runs.
    package func reloadConfiguration() async throws -> Bool {
        let process = try await connection.processID(of: ServiceName.bus)
        return process.map { kill($0, SIGHUP) == 0 } ?? false
    }

    private func proxy(_ path: ObjectPath) -> BusProxy {
        BusProxy(connection, ServiceName.bus, path)
    }
}

/// `org.imagefeed.ImageFeed1.Provider`.
@MainActor
package struct ProviderClient {
    let proxy: BusProxy

    package func properties() async throws -> [String: Variant] {
        try await proxy.properties(.provider)
    }

    /// Changes the given settings. Without any, it only checks whether the provider can be configured.
    package func configure(_ settings: [ProviderSetting: Variant]) async throws {
        let named = Dictionary(uniqueKeysWithValues: settings.map { ($0.key.rawValue, $0.value) })
        // Without a time limit: the keyring may prompt.
        try await proxy.perform(.provider, .configure, named, timeout: nil)
    }
}

/// `org.imagefeed.ImageFeed1.Login`.
@MainActor
package struct LoginClient {
    let proxy: BusProxy

    package var path: ObjectPath { proxy.path }

    package func properties() async throws -> [String: Variant] {
        try await proxy.properties(.login)
    }

    package func openBrowser() async throws { try await proxy.perform(.login, .openBrowser) }
    package func submitCode(_ code: String) async throws {
        try await proxy.perform(.login, .submitCode, code)
    }
    package func cancel() async throws { try await proxy.perform(.login, .cancel) }

    /// Waits for the account, without a time limit.
    package func wait() async throws -> ObjectPath {
        try await proxy.call(.login, .wait, timeout: nil)
    }

    /// Waits for the account, and calls `handler` with the properties now and with the changed ones after each change.
    package func wait(_ handler: @escaping ([String: Variant]) -> Void) async throws -> ObjectPath {
        let watch = try await proxy.watch(.login, handler)
        handler(try await properties())
        let account = try await wait()
        withExtendedLifetime(watch) {}
        return account
    }
}

/// `org.imagefeed.ImageFeed1.Account`, `.Feed`, `.Like` and `.Profile`.
@MainActor
package struct AccountClient {
    let proxy: BusProxy

    package var path: ObjectPath { proxy.path }

    package func properties(_ interface: InterfaceName) async throws -> [String: Variant] {
        try await proxy.properties(interface)
    }
    // Without a time limit: the keyring may prompt.
    package func logout() async throws { try await proxy.perform(.account, .logout, timeout: nil) }

    /// Removes the account.
    ///
    /// - Returns: The message of the signal `TokenRemains`, if there was one.
    @discardableResult
    package func remove() async throws -> String? {
        var warning: String?
        let watch = try await proxy.connection.subscribe(
            MatchRule(
                sender: proxy.destination, path: proxy.path, interface: .account,
                member: .tokenRemains)
        ) { signal in
            if case .tokenRemains(let text) = ServiceEvent(signal) { warning = text }
        }
        try await proxy.perform(.account, .remove, timeout: nil)
        withExtendedLifetime(watch) {}
        return warning
    }

    /// Refreshes the profile, the sources and the default source. The keyring may prompt.
    ///
    /// - Returns: The number of photos of the default source that were not known before.
    @discardableResult
    package func refresh() async throws -> UInt32 {
        let source = try? await proxy.property(.feed, "DefaultSource").string
        var count: UInt32 = 0
        let watch = try await proxy.connection.subscribe(
            MatchRule(
                sender: proxy.destination, path: proxy.path, interface: .feed, member: .updated)
        ) { signal in
            guard case .updated(let updated, let new) = ServiceEvent(signal), updated == source
            else { return }
            count &+= new
        }
        try await proxy.perform(.account, .refresh, timeout: nil)
        withExtendedLifetime(watch) {}
        return count
    }
    package func setLabel(_ label: String) async throws {
        try await proxy.set(.account, .label, to: label)
    }

    /// Returns one page of photos.
    ///
    /// - Parameters:
    ///   - source: The ID of a source; empty for the default source.
    ///   - cursor: Empty for the newest photos, else `next` of the previous page.
    ///   - count: 1 to 100.
    /// - Returns: The photos, and the cursor of the next page, which is empty at the end.
    /// - Throws: ``BusError``.
    package func page(
        _ source: String, cursor: String, count: UInt32
    ) async throws -> (photos: [PhotoEntry], next: String) {
        let (photos, next): ([PhotoEntry], String) =
            try await proxy.call(.feed, .getPage, source, cursor, count)
        return (photos, next)
    }

    package func photo(_ id: String) async throws -> PhotoEntry {
        try await proxy.call(.feed, .getPhoto, id)
    }
    package func sources() async throws -> [Source] { try await proxy.call(.feed, .listSources) }

    /// Returns the path of a local image file. Waits until the image has been fetched.
    package func imagePath(_ photo: String, size: String) async throws -> String {
        try await proxy.call(.feed, .getImage, photo, size, timeout: nil)
    }
    package func openImage(_ photo: String, size: String) async throws -> FileDescriptor {
        try await proxy.call(.feed, .openImage, photo, size, timeout: nil)
    }

    /// Starts to write a photo in its best quality to an open file.
    ///
    /// - Returns: The path of the transfer, for ``ServiceClient/transfer(_:)``.
    package func download(
        _ photo: String, to destination: FileDescriptor
    ) async throws -> ObjectPath {
        try await proxy.call(.feed, .download, photo, destination)
    }

    /// - Returns: The number of photos that were not known before.
    package func refresh(_ source: String) async throws -> UInt32 {
        try await proxy.call(.feed, .refresh, source)
    }
    package func setDefaultSource(_ source: String) async throws {
        try await proxy.set(.feed, .defaultSource, to: source)
    }

    // MARK: Likes

    package func like(_ photo: String) async throws -> LikeOutcome {
        LikeOutcome(onBus: try await proxy.call(.like, .like, photo))
    }
    package func unlike(_ photo: String) async throws -> LikeOutcome {
        LikeOutcome(onBus: try await proxy.call(.like, .unlike, photo))
    }

    /// Toggles the like of a photo. A pending like or unlike counts as confirmed.
    ///
    /// - Returns: True in `liked` if the photo is liked now, or will be; and the outcome.
    package func toggleLike(_ photo: String) async throws -> (liked: Bool, outcome: LikeOutcome) {
        let (liked, outcome): (Bool, String) = try await proxy.call(.like, .toggle, photo)
        return (liked, LikeOutcome(onBus: outcome))
    }

    /// Makes a photo the user's avatar: a photo of the account, or `ACCOUNT/ID`. The daemon may have to fetch it first.
    package func setAvatar(_ photo: String) async throws {
        try await proxy.perform(.profile, .setAvatar, photo, timeout: nil)
    }
}

extension LikeOutcome {
    /// An outcome that this version does not know is a success.
    fileprivate init(onBus text: String) { self = LikeOutcome(rawValue: text) ?? .done }
}

/// `org.imagefeed.ImageFeed1.Transfer`.
@MainActor
package struct TransferClient {
    let proxy: BusProxy

    package func properties() async throws -> [String: Variant] {
        try await proxy.properties(.transfer)
    }

    /// Waits for the end of the transfer, without a time limit.
    package func wait() async throws { try await proxy.perform(.transfer, .wait, timeout: nil) }

    /// Waits for the end of the transfer, and calls `report` with the progress now and after each change.
    package func wait(_ report: @escaping (TransferProgress) -> Void) async throws {
        var progress = TransferProgress()
        let apply: ([String: Variant]) -> Void = { changes in
            progress.apply(changes)
            report(progress)
        }
        let watch = try await proxy.watch(.transfer, apply)
        apply(try await properties())
        try await wait()
        withExtendedLifetime(watch) {}
    }

    package func cancel() async throws { try await proxy.perform(.transfer, .cancel) }
}

/// The progress of a transfer.
package struct TransferProgress {
    package private(set) var received: UInt64 = 0
    /// The size in bytes; 0 if it is unknown.
    package private(set) var total: UInt64 = 0

    package init() {}

    /// Updates the progress from changed properties of the transfer.
    package mutating func apply(_ changes: [String: Variant]) {
        if case .uint64(let bytes)? = changes["Received"] { received = bytes }
        if case .uint64(let bytes)? = changes["Total"] { total = bytes }
    }
}
