import Contract
import DBus
import Glibc
import TestSupport
import Testing

/// A client that stays on the bus while the daemon is killed. It reads the first page when a daemon appears or a feed
/// is updated, and applies the signals about likes in between.
@MainActor
final class WatcherUnderKills {
    private let connection: BusConnection
    private let account: ObjectPath
    /// The state of the like of each photo, according to this client.
    private var likes: [String: Bool] = [:]
    private var isReading = false
    private var isOutdated = false
    private var subscriptions: [SignalSubscription] = []
    private var counts = (reads: 0, failures: 0, signals: 0)
    /// The error of the last read, if that failed.
    private var lastError: (any Error)?
    private let idle = Observed(true)

    init(_ account: ObjectPath) async throws {
        self.account = account
        connection = try PrivateBus.current.connect()
        subscriptions.append(
            try await connection.watchOwner(of: ServiceName.bus) { [unowned self] owner in
                if owner != nil { read() }
            })
        try await listen(.feed, "Updated") { [unowned self] _ in read() }
        try await listen(.feed, "PhotosRemoved") { [unowned self] _ in read() }
        try await listen(.feed, "PhotoChanged") { [unowned self] message in
            let change: (String, [String: Variant]) = try message.read()
            if let isLiked = change.1["liked"]?.bool { likes[change.0] = isLiked }
        }
        try await listen(.like, "Changed") { [unowned self] message in
            let change: (String, Bool, UInt32) = try message.read()
            likes[change.0] = change.1
        }
        read()
    }

    var report: String {
        "a watcher with \(counts.signals) signals and \(counts.reads) reads, \(counts.failures) without a reply"
    }

    private func listen(
        _ interface: InterfaceName, _ member: MemberName,
        _ handler: @escaping (BusMessage) throws -> Void
    ) async throws {
        let rule = MatchRule(
            sender: ServiceName.bus, path: account, interface: interface, member: member)
        subscriptions.append(
            try await connection.subscribe(rule) { [unowned self] message in
                counts.signals += 1
                do { try handler(message) } catch { Issue.record(error) }
            })
    }

    /// Reads the first page, and again if it is outdated after that.
    private func read() {
        isOutdated = true
        guard !isReading else { return }
        isReading = true
        idle.update { $0 = false }
        Task {
            while isOutdated {
                isOutdated = false
                do {
                    let call = try BusMessage(
                        .methodCall(ServiceName.bus, account, .feed, "GetPage"), "", "",
                        100 as UInt32)
                    // In `onArrival`, because a signal that follows the reply is newer than the reply.
                    _ = try await connection.call(call) { [unowned self] in take($0) }
                    lastError = nil
                } catch {
                    // The daemon was killed, or has not started yet.
                    counts.failures += 1
                    lastError = error
                }
            }
            isReading = false
            idle.update { $0 = true }
        }
    }

    private func take(_ reply: BusMessage) {
        guard let page: ([[String: Variant]], String) = try? reply.read() else { return }
        counts.reads += 1
        let ids = page.0.compactMap { $0["id"]?.string }
        #expect(ids.count == page.0.count && Set(ids).count == ids.count)
        for photo in page.0 {
            guard let id = photo["id"]?.string, let isLiked = photo["liked"]?.bool else { continue }
            likes[id] = isLiked
        }
    }

    /// Expects that this client knows the state of these photos without another read.
    func check(_ expected: [String: Bool]) async throws {
        try await idle.wait { $0 ? true : nil }
        // A reply of the bus arrives after all signals that were sent before.
        _ = try await connection.owner(of: ServiceName.bus)
        for (photo, isLiked) in expected {
            #expect(
                likes[photo] == isLiked,
                "the watcher of \(photo); last error: \(lastError.map { "\($0)" } ?? "none")")
        }
    }
}

/// Daemons that start on a second bus with the folders of the first daemon, which is killed meanwhile.
@MainActor
final class SecondBusUnderKills {
    private let bus: PrivateBus
    private var random: SeededRandom
    private let client: BusConnection
    private let owner = Observed<BusName?>(nil)
    private var watch: SignalSubscription?
    private let account: ObjectPath
    private var process: ChildProcess?
    private var isReplacing = false
    private var startTime = ContinuousClock.now
    private var counts = (refused: 0, takenOver: 0)

    init(_ account: ObjectPath, seed: UInt64) async throws {
        self.account = account
        random = SeededRandom(seed: seed)
        bus = try await PrivateBus()
        client = try bus.connect()
        watch = try await client.watchOwner(of: ServiceName.bus) { [owner] name in
            owner.update { $0 = name }
        }
    }

    var report: String {
        "on a second bus \(counts.refused) daemons refused and \(counts.takenOver) in place of a killed one"
    }

    /// Starts a daemon. In one of four cases it waits for the data folder, and in another one it is refused
    /// immediately.
    func start() async throws {
        var environment = try RunningDaemon.environment()
        environment["DBUS_SESSION_BUS_ADDRESS"] = bus.address
        let number = Int.random(in: 0..<4, using: &random)
        isReplacing = number == 0
        startTime = .now
        let process = try ChildProcess(
            RunningDaemon.path, isReplacing ? ["--replace"] : [], environment: environment)
        self.process = process
        if number == 1 { #expect(try await process.exitStatus() == .code(1)) }
    }

    /// Expects, after the end of the first daemon, that the second one was refused or serves, and ends it.
    func end() async throws {
        guard let process else { return }
        // A daemon waits for at most five seconds. On a slow machine, the first one may end later.
        let isReleasedInTime = ContinuousClock.now - startTime < .seconds(5)
        let outcome = Observed<ChildProcess.Exit?>(nil)
        let exit = Task {
            let exit = try await process.exitStatus()
            outcome.update { $0 = exit }
            owner.update { _ in }
        }
        let isServing = try await owner.wait { name -> Bool? in
            if name != nil { return true }
            return outcome.value != nil ? false : nil
        }
        if isServing {
            let objects = try await ServiceClient(client).objects()
            #expect(objects[account] != nil)
            process.kill(Bool.random(using: &random) ? SIGKILL : SIGTERM)
            try await exit.value
            try await owner.wait { $0 == nil ? true : nil }
            counts.takenOver += 1
        } else {
            let (exit, _, error) = try await process.result()
            #expect(exit == .code(1))
            #expect(error.contains("is in use by another imagefeedd"), "\(error)")
            #expect(!isReplacing || !isReleasedInTime, "the data folder was not released")
            counts.refused += 1
        }
    }
}
