internal import Contract
internal import DBus
internal import Glibc
internal import System

/// A client that is attached to the slideshow and reports its current photo.
///
/// The client attaches again after a restart of the daemon. Only its first call starts the daemon.
@MainActor
final class SlideshowWatch {
    private let client: ServiceClient
    private let slideshow: SlideshowClient
    private let report: (SlideshowPhoto) throws -> Void
    /// The properties of the slideshow; nil until the first attempt to attach has succeeded.
    private var properties: SlideshowProperties?
    private var reported: SlideshowPhoto?
    /// True if this client has attached, or sent the request to attach, to the running daemon.
    private var isAttached = false
    private let end = OneShotResult<Void, any Error>()

    /// - Parameters:
    ///   - client: The client of the daemon.
    ///   - slideshow: The slideshow.
    ///   - report: Called with the current photo, and after each change of the photo or its image. An error ends
    ///     ``run()``.
    init(
        _ client: ServiceClient, _ slideshow: SlideshowClient,
        _ report: @escaping (SlideshowPhoto) throws -> Void
    ) {
        self.client = client
        self.slideshow = slideshow
        self.report = report
    }

    /// Reports the photos until the program is interrupted with Ctrl-C, which is not an error, and detaches.
    ///
    /// - Throws: The error of the first attempt to attach; ``BusError/disconnected`` if the bus closes the connection;
    ///   the errors of `report`.
    func run() async throws {
        let watch = SignalWatch { [weak self] in self?.interrupt() }
        client.connection.onDisconnect = { [end] in
            end.complete(.failure(BusError.disconnected))
        }
        let signals = try await slideshow.watch { [weak self] in self?.merge($0) }
        let (owners, changes) = AsyncStream.makeStream(
            of: BusName?.self, bufferingPolicy: .bufferingNewest(1))
        let ownerWatch = try await client.connection.watchOwner(of: ServiceName.bus) {
            [weak self] owner in
            self?.isAttached = false
            changes.yield(owner)
        }
        try await attach()
        let restarts = Task {
            // If an attempt fails, the daemon has ended again, or has no slideshow. A later start reports another owner.
            for await owner in owners where owner != nil { try? await attach() }
        }
        defer { restarts.cancel() }
        try await end.value()
        withExtendedLifetime((watch, signals, ownerWatch)) {}
    }

    /// Detaches. After an error, this client is not attached any more.
    func detach() async {
        // Without this condition, the call would start the daemon.
        if isAttached { try? await slideshow.detach() }
    }

    /// Ends ``run()`` with an error.
    func fail(_ error: any Error) { end.complete(.failure(error)) }

    private func attach() async throws {
        isAttached = true
        try await slideshow.attach()
        properties = try await slideshow.properties()
        reportChange()
    }

    private func merge(_ changes: [String: Variant]) {
        properties?.merge(changes)
        reportChange()
    }

    private func reportChange() {
        guard let properties else { return }
        let photo = SlideshowPhoto(properties)
        guard photo != reported, !end.isComplete else { return }
        reported = photo
        do {
            try report(photo)
        } catch {
            end.complete(.failure(error))
        }
    }

    private func interrupt() {
        // A second Ctrl-C exits without waiting for the daemon.
        if end.isComplete { exit(ProgramStatus.interrupted.rawValue) }
        // The first call may wait for an image. The disconnection from the bus detaches this client.
        if !end.hasWaiters { exit(ProgramStatus.done.rawValue) }
        end.complete(.success(()))
    }
}
