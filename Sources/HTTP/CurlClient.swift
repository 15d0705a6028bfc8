internal import Dispatch
internal import Glibc
internal import System
internal import Translation
package import Web

/// An HTTP client that uses libcurl.
///
/// Supports `https`, and `http` on loopback only; HTTP/2 if the server supports it; and the proxies of the environment.
/// Does not use cookies or `.netrc`, and stores nothing on the disk. The first request loads libcurl. Idle connections
/// are reused, at most eight per host, and are closed a minute after the last transfer; then the client never wakes the
/// process.
///
/// A request never uses a connection that was opened before a timeout on a connection, a suspend, or a call of
/// ``replaceConnections()``: the network may have dropped such a connection silently. Transfers in progress on older
/// connections end there if their server responds. Otherwise they continue on a new connection if that has no side
/// effect.
///
/// The process must ignore SIGPIPE.
@MainActor
package final class CurlClient: nonisolated HTTPClient {
    package var userAgent: String
    let proxies: ProxySettings
    let limits: Limits
    /// The files of the only certificates that are trusted for a host, by its name in lower case, an IPv6 address without
    /// brackets. Other hosts have the certificates of the system.
    package var certificateFiles: [String: String] = [:]
    private let onRest: () -> Void
    /// The pools for new transfers. Those that were replaced close when their transfers have ended.
    private var pools: [AddressScope: ConnectionPool] = [:]
    /// Returns the time that the machine has been suspended since its start.
    private let suspendedTime: () -> Duration
    private var lastSuspendedTime: Duration
    private var transfers: [ObjectIdentifier: CurlTransfer] = [:]
    private var idleTimer: MainLoopTimer?
    private var isClosed = false
    private var queue: TransferQueue<ParsedAddress.Origin, ObjectIdentifier>
    /// The bytes of the large responses to plugins.
    private var pluginBytes = 0
    /// The queue on which the files of downloads are written.
    let fileQueue = DispatchQueue(label: "org.imagefeed.http.files")

    private static let closed = HTTPError.failed(Message(verbatim: "the client has been closed"))

    /// - Parameters:
    ///   - userAgent: The user agent, `ImageFeed/1.0 (+https://example.org)`.
    ///   - proxies: The proxy settings.
    ///   - onRest: Called after the connections have been closed, a minute after the last transfer.
    package convenience init(
        userAgent: String, proxies: ProxySettings = .ofProcess, onRest: @escaping () -> Void
    ) {
        self.init(userAgent: userAgent, proxies: proxies, limits: Limits(), onRest: onRest)
    }

    init(
        userAgent: String, proxies: ProxySettings, limits: Limits,
        suspendedTime: @escaping () -> Duration = CurlClient.suspendedTime,
        onRest: @escaping () -> Void = {}
    ) {
        self.suspendedTime = suspendedTime
        lastSuspendedTime = suspendedTime()
        self.userAgent = userAgent
        self.proxies = proxies
        self.limits = limits
        self.onRest = onRest
        queue = TransferQueue(limits: limits)
    }

    isolated deinit { close() }

    /// True if the client has no connections for new transfers, and no memory for them.
    var isResting: Bool { pools.isEmpty }

    // The attribute is required here: a method of a nonisolated conformance does not have the actor of the class.
    @MainActor package func send(_ request: HTTPRequest) async throws -> HTTPResponse {
        try await run(makeTransfer(request))
    }

    @MainActor package func download(
        _ request: HTTPRequest, into file: Int32,
        progress: @escaping @Sendable (HTTPProgress) -> Void
    ) async throws -> HTTPResponse {
        let transfer = try makeTransfer(request)
        transfer.write(into: file, progress: progress)
        return try await run(transfer)
    }

    /// Ends all transfers, and fails all later requests, with ``HTTPError/failed(_:)``.
    package func close() {
        isClosed = true
        queue.removeWaiting()
        for transfer in transfers.values { transfer.end(.failure(Self.closed)) }
        rest()
    }

    /// Sends new requests on new connections, after a change of the network.
    ///
    /// Transfers in progress continue on their connections if data arrives within a short time limit. Otherwise they
    /// are repeated or continued on a new connection, except those that may have had an effect at the server.
    package func replaceConnections() {
        for pool in pools.values { pool.retire() }
        pools = [:]
        // A transfer may end within the call.
        for transfer in Array(transfers.values) { transfer.networkChanged() }
    }

    private func makeTransfer(_ request: HTTPRequest) throws(HTTPError) -> CurlTransfer {
        guard !isClosed else { throw Self.closed }
        let suspendedTime = suspendedTime()
        // Smaller differences are the time between the readings of two clocks.
        if suspendedTime - lastSuspendedTime >= .seconds(1) { replaceConnections() }
        lastSuspendedTime = suspendedTime
        return CurlTransfer(request, self)
    }

    private func run(_ transfer: CurlTransfer) async throws -> HTTPResponse {
        try await withTaskCancellationHandler {
            try await withCheckedThrowingContinuation { continuation in
                idleTimer = nil
                transfers[ObjectIdentifier(transfer)] = transfer
                transfer.start(continuation)
                if Task.isCancelled { transfer.end(.failure(CancellationError())) }
            }
        } onCancel: {
            Task { @MainActor in
                // The transfer may not have started yet.
                transfers[ObjectIdentifier(transfer)]?.end(.failure(CancellationError()))
            }
        }
    }

    // MARK: The queue

    /// Queues a transfer, and sends it as soon as a connection is available, possibly within this call. Must not be
    /// called in a callback of libcurl.
    ///
    /// - Parameters:
    ///   - transfer: A transfer that is not in the queue.
    ///   - host: The server that the transfer connects to.
    func enter(_ transfer: CurlTransfer, to host: ParsedAddress.Origin) {
        guard !isClosed else { return }
        sendAdmitted(
            queue.add(
                ObjectIdentifier(transfer), to: host, isDownload: transfer.download != nil,
                for: transfer.request.plugin))
    }

    /// Removes a transfer, if it is in the queue, and sends the transfers that waited for its connection. Must not be
    /// called in a callback of libcurl.
    func leave(_ transfer: CurlTransfer) { sendAdmitted(queue.remove(ObjectIdentifier(transfer))) }

    private func sendAdmitted(_ admitted: [ObjectIdentifier]) {
        for id in admitted { transfers[id]?.send() }
    }

    // MARK: Memory

    /// Reserves memory for a large response to a plugin.
    ///
    /// - Returns: The reservation; nil if the responses to all plugins together would exceed their limit.
    func reserve(_ bytes: Int) -> MemoryReservation? {
        guard pluginBytes + bytes <= limits.pluginBodyBytes else { return nil }
        pluginBytes += bytes
        return MemoryReservation { [weak self] in
            Task { @MainActor in self?.pluginBytes -= bytes }
        }
    }

    // MARK: Connections

    /// Returns the pool for new connections within an address scope.
    func pool(_ reach: AddressScope) throws(HTTPError) -> ConnectionPool {
        if let pool = pools[reach] { return pool }
        let pool = try ConnectionPool(limits)
        pools[reach] = pool
        return pool
    }

    /// Replaces a pool, if it is in use, because a connection in it is dead or may be dead.
    func retire(_ pool: ConnectionPool) {
        guard let reach = pools.first(where: { $0.value === pool })?.key else { return }
        pools[reach] = nil
        pool.retire()
    }

    /// Records the end of a transfer, before its result is returned.
    func ended(_ transfer: CurlTransfer) {
        transfers[ObjectIdentifier(transfer)] = nil
        guard transfers.isEmpty, !isClosed else { return }
        idleTimer = MainLoopTimer(after: limits.idling) { [unowned self] in rest() }
    }

    /// Closes the idle connections and releases their memory.
    private func rest() {
        idleTimer = nil
        guard !isResting else { return }
        for pool in pools.values { pool.close() }
        pools = [:]
        onRest()
    }

    /// Returns the difference of the boot clock, which runs during a suspend, and the monotonic clock, which does not.
    ///
    /// Source: clock_gettime(2).
    nonisolated static func suspendedTime() -> Duration {
        var (boot, monotonic) = (timespec(), timespec())
        guard clock_gettime(CLOCK_BOOTTIME, &boot) == 0,
            clock_gettime(CLOCK_MONOTONIC, &monotonic) == 0
        else { return .zero }
        return .seconds(boot.tv_sec - monotonic.tv_sec)
            + .nanoseconds(boot.tv_nsec - monotonic.tv_nsec)
    }
}
