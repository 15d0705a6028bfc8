internal import Contract
internal import DBus
internal import ProviderKit

/// The measured daemon, on a separate bus.
final class DaemonFixture {
    /// The number of photos that each user likes.
    private static let likes = 20

    let connection: BusConnection
    let service: ServiceClient
    private let path: String
    private let bus: PrivateBus
    private var watch: SignalSubscription?
    private var ownership: AsyncStream<Bool>.Continuation?
    private var process: ChildProcess?

    init(_ path: String, _ bus: PrivateBus) async throws {
        self.path = path
        self.bus = bus
        connection = try BusConnection(address: bus.address)
        service = ServiceClient(connection)
        watch = try await connection.watchOwner(of: ServiceName.bus) { [unowned self] owner in
            ownership?.yield(owner != nil)
        }
    }

    var id: Int32 { process?.id ?? 0 }

    /// Starts the daemon and waits for its first reply.
    func start() async throws {
        try await waitUntil(owned: true) {
            process = try ChildProcess(path, environment: bus.environment)
        }
        _ = try await service.objects()
    }

    /// Terminates the daemon in the same way as the end of a session.
    func stop() async throws {
        try await waitUntil(owned: false) { process?.end() }
    }

    /// Performs `action` and waits until the bus name has an owner or has none.
    private func waitUntil(owned: Bool, _ action: () throws -> Void) async throws {
        let (owners, continuation) = AsyncStream<Bool>.makeStream()
        ownership = continuation
        try action()
        for await isOwned in owners where isOwned == owned { return }
    }

    /// Registers users, waits until the feed of the first one has all photos, and adds likes for each user.
    ///
    /// - Returns: The account of the first user.
    func addUsers(_ users: Int, photos count: Int) async throws -> ObjectPath {
        var paths: [ObjectPath] = []
        for number in 1...users {
            let login = try await service.startLogin(
                "local", [.username: .string("user\(number)"), .register: .bool(true)])
            paths.append(try await service.login(login).wait())
        }
        let deadline = ContinuousClock.now + .seconds(120)
        while try await photos(paths[0]) < count {
            guard ContinuousClock.now < deadline else {
                throw BenchmarkError("the feed has only \(try await photos(paths[0])) photos")
            }
            try await Task.sleep(for: .milliseconds(200))
        }
        for (number, path) in paths.enumerated() {
            let account = service.account(path)
            let (page, _) = try await account.page("", cursor: "", count: 100)
            for photo in page.dropFirst(number).prefix(Self.likes) {
                _ = try await account.like(photo.id)
            }
        }
        return paths[0]
    }

    /// Returns the number of photos of the largest source, which contains all photos.
    private func photos(_ account: ObjectPath) async throws -> Int {
        let sources = try await service.account(account).sources()
        return sources.compactMap(\.count).max() ?? 0
    }
}
