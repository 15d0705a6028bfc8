internal import Glibc
internal import JSONFormat
internal import Logging
internal import PluginProtocol
internal import ProviderKit
internal import Quoting
internal import System
internal import Translation

/// The connection to a running plugin, with the calls that wait for a result.
///
/// A violation of the protocol ends the plugin and fails every call.
final class PluginConnection {
    /// The result of a call, and the size of the message.
    typealias Answer = (result: JSON, bytes: Int)

    /// A call that waits for an answer.
    struct Call {
        let method: PluginMethod
        let account: PluginAccount?
        /// The waiting caller; nil if the call was cancelled. The plugin must still answer the call.
        var continuation: CheckedContinuation<Answer, any Error>?
        let limit: Duration
        let end: SuspendingClock.Instant
    }

    let logger: Logger
    private let observer: PluginObserver?
    private let name: String
    private let limits: PluginLimits
    let work: PluginWork
    private weak var plugin: Plugin?
    private var process: PluginProcess?
    /// The ID of the process, also after its end.
    private(set) var processID: Int32 = 0
    private(set) var calls: [Int64: Call] = [:]
    private var lastCall: Int64 = 0
    /// The accounts of all calls, including ended calls, by their IDs.
    private var knownAccounts: [String: PluginAccount] = [:]
    /// The deliveries of the latest notifications, by their method and account. Each of them causes a D-Bus signal.
    private var notifications: [String: () -> Void] = [:]
    /// Runs between two deliveries.
    private var notificationPause: MainLoopTimer?
    private static let notificationInterval = Duration.milliseconds(250)
    /// A timer that fires no later than the next time limit. It is not restarted if the next limit is later, because
    /// each call would restart it.
    private var timer: (end: SuspendingClock.Instant, MainLoopTimer)?
    // The plugin cannot answer while the computer is suspended.
    private var idleSince = SuspendingClock.now
    private var killTimer: MainLoopTimer?
    private var logLines: Allowance
    private var requests: [Int: Task<Void, Never>] = [:]
    private var lastRequest = 0
    /// The bytes of the bodies of the requests.
    private var requestBytes = 0
    private let startTime = ContinuousClock.now
    /// See ``PluginLaunch/placement``.
    private var placement: PipeEnds?
    /// True if the plugin was ended or has ended; it can receive no further call.
    private(set) var isOver = false
    /// The last line of the standard error of the plugin that is not empty.
    private var lastErrorLine: [UInt8] = []

    /// See ``PluginLaunch/report``.
    private let report: PipeEnds?
    /// The reason why the sandbox did not start the program; nil if it did, or if the daemon ended the process.
    private(set) var startFailure: String?

    /// Starts a process.
    ///
    /// - Throws: ``SpawnError``.
    init(
        _ launch: PluginLaunch, _ plugin: Plugin, _ limits: PluginLimits, _ logger: Logger
    ) throws {
        name = plugin.manifest.info.name
        observer = plugin.observer
        self.plugin = plugin
        self.limits = limits
        self.logger = logger
        placement = launch.placement
        report = launch.report
        logLines = Allowance(Double(limits.logLines), per: .seconds(10))
        work = PluginWork(limits)
        process = try PluginProcess(launch, limits, self)
        processID = process?.id ?? 0
        observer?(.started)
    }

    /// The time since the start.
    var age: Duration { .now - startTime }

    /// True if the process waits for its control group.
    var isWaiting: Bool { placement != nil }

    /// Starts the program of a process that waits for its control group.
    func start() {
        guard let placement else { return }
        process?.isInGroup = true
        _ = write(placement.writing, [0], 1)
        self.placement = nil
    }

    // MARK: Calls

    /// Calls a method of the plugin.
    ///
    /// - Parameters:
    ///   - method: The method.
    ///   - parameters: The parameters.
    ///   - account: The account whose credentials the requests of the plugin carry during the call.
    ///   - limit: The time limit.
    /// - Returns: The result.
    /// - Throws: ``PluginRefusal``; ``ProviderError/failed(_:)`` if the plugin fails; `CancellationError`.
    func call(
        _ method: PluginMethod, _ parameters: JSON, _ account: PluginAccount?,
        limit: Duration
    ) async throws -> Answer {
        guard !isOver else { throw failure("it has ended") }
        lastCall += 1
        let id = lastCall
        return try await withTaskCancellationHandler {
            try await withCheckedThrowingContinuation { continuation in
                calls[id] = Call(
                    method: method, account: account, continuation: continuation, limit: limit,
                    end: .now + limit)
                if let account { knownAccounts[account.id] = account }
                scheduleTimer()
                send(
                    .call(
                        id: .integer(id), method: method.rawValue, parameters: parameters))
                if Task.isCancelled { abandon(id) }
            }
        } onCancel: {
            Task { @MainActor in abandon(id) }
        }
    }

    private func abandon(_ id: Int64) {
        guard let continuation = calls[id]?.continuation else { return }
        calls[id]?.continuation = nil
        send(.notification(method: pluginCancellation, parameters: ["id": .integer(id)]))
        continuation.resume(throwing: CancellationError())
    }

    /// Forwards a notification about an account, now or after the pause. It is ignored if no call concerned the account,
    /// or if the account has no session. A later one about the same account replaces it.
    func notify(_ event: SessionEvent, _ method: DaemonMethod, about id: String) {
        guard let events = knownAccounts[id]?.events else { return }
        notifications["\(method) \(id)"] = { events.yield(event) }
        if notificationPause == nil { deliverNotifications() }
    }

    private func deliverNotifications() {
        notificationPause = nil
        guard !notifications.isEmpty else { return }
        for deliver in notifications.values { deliver() }
        notifications = [:]
        notificationPause = MainLoopTimer(after: Self.notificationInterval) { [weak self] in
            self?.deliverNotifications()
        }
    }

    func send(_ message: PluginMessage) { send(message.line) }

    private func send(_ line: [UInt8]) {
        observer?(.sent(line))
        process?.send(line)
    }

    /// Sends an HTTP request of the plugin, or refuses the call if too many of its requests are running, or if their
    /// bodies are too large.
    ///
    /// - Parameters:
    ///   - id: The ID of the call.
    ///   - bytes: The size of the body.
    ///   - send: Sends the request.
    func perform(
        _ id: JSON, bytes: Int, _ send: @escaping @MainActor () async throws -> HTTPResponse
    ) {
        let excess: String? =
            requests.count >= limits.requests
            ? "More than \(limits.requests) HTTP requests are running"
            : requestBytes + bytes > limits.lineBytes
                ? "The bodies of the running HTTP requests would have more than \(limits.lineBytes.sizeText)"
                : nil
        if let excess {
            return refuse(id, PluginRefusal(.failed, "\(excess); wait for a response."))
        }
        requestBytes += bytes
        lastRequest += 1
        let number = lastRequest
        work.record(Self.requestTime)
        let delay = work.delay
        requests[number] = Task {
            defer {
                requests[number] = nil
                requestBytes -= bytes
            }
            do {
                if delay > .zero { try await MainLoopClock().sleep(for: delay) }
                try await answer(id, send())
            } catch {
                refuse(id, PluginRefusal(error))
            }
        }
    }

    /// The processor time of a request that is not measured.
    private static let requestTime = Duration.microseconds(200)

    private func answer(_ id: JSON, _ response: HTTPResponse) async {
        var line = await work.run(bytes: response.body.count) {
            ResponseLine(response, answering: id)
        }
        guard observer == nil, let memory = response.memory else {
            return send(line.reduce(into: []) { $0 += $1 })
        }
        process?.send { withExtendedLifetime(memory) { line.next() } }
    }

    func refuse(_ id: JSON, _ refusal: PluginRefusal) { send(.refusal(id: id, refusal)) }

    // MARK: Messages of the plugin

    /// Handles a line of the standard output. A long line is parsed off the main thread.
    func take(_ line: [UInt8]) async {
        guard !isOver else { return }
        observer?(.received(line))
        let count = line.count
        let message = await work.run(bytes: count) { Self.message(line) }
        handle(message, bytes: count)
        work.discard(message, bytes: count)
    }

    private nonisolated static func message(_ line: [UInt8]) -> Result<PluginMessage, PluginFault> {
        Result { () throws(PluginFault) in try PluginMessage(parsing: line) }.mapError { fault in
            // The line may be long, and the excerpt needs only its first bytes.
            let beginning = String(decoding: line.prefix(500), as: UTF8.self).excerpt
            return PluginFault("\(fault), in “\(beginning)”")
        }
    }

    private func handle(_ message: Result<PluginMessage, PluginFault>, bytes: Int) {
        guard !isOver else { return }
        do throws(PluginFault) {
            switch try message.get() {
            case .answer(let id, let result):
                complete(id, .success((result, bytes)))
            case .refusal(let id, let refusal): complete(id, .failure(refusal))
            case .call(let id, let method, let parameters):
                try handleCall(id, method, PluginReader(parameters, method))
            case .notification(let method, let parameters):
                try handleNotification(method, PluginReader(parameters, method))
            }
        } catch {
            fail("it sent an invalid message: \(error)")
        }
    }

    private func complete(_ id: JSON, _ result: Result<Answer, any Error>) {
        guard case .integer(let number) = id, let call = calls.removeValue(forKey: number) else {
            return fail("it sent the result of an unknown call")
        }
        call.continuation?.resume(with: result)
        idleSince = .now
        scheduleTimer()
    }

    /// Logs a text of the plugin, unless the plugin has exceeded its limit of log lines.
    func log(_ level: Logger.Level, _ text: String) {
        guard logLines.use(), let line = ServiceText.message(text) else { return }
        logger.log(level: level, "\(name): \(line)")
    }

    /// Handles a line of the standard error.
    func takeErrorLine(_ bytes: [UInt8]) {
        guard !bytes.isEmpty else { return }
        lastErrorLine = bytes
        guard observer != nil || logLines.used() < Double(limits.logLines),
            let line = Self.text(bytes)
        else { return }
        observer?(.errorLine(line))
        log(.warning, line)
    }

    private static func text(_ bytes: [UInt8]) -> String? {
        ServiceText.message(String(decoding: bytes, as: UTF8.self))
    }

    // MARK: End

    private func scheduleTimer() {
        let due = calls.values.lazy.map(\.end).min() ?? idleSince + limits.idling
        guard !isOver, timer.map({ $0.end > due }) ?? true else { return }
        timer = (due, MainLoopTimer(after: due - .now) { [weak self] in self?.checkTime() })
    }

    private func checkTime() {
        timer = nil
        guard !isOver else { return }
        let now = SuspendingClock.now
        if let late = calls.values.first(where: { $0.end <= now }) {
            let limit = late.limit.secondsText
            let hint =
                late.method == .initialize ? "; a program must flush its standard output" : ""
            fail(
                "it did not answer the call \(late.method.rawValue) within \(limit)\(hint)",
                .timeout)
        } else if calls.isEmpty, idleSince + limits.idling <= now {
            end()
            plugin?.endedIdle()
        } else {
            scheduleTimer()
        }
    }

    /// Ends the plugin. Running calls fail.
    func end() {
        guard !isOver else { return }
        close(reason: "it was stopped")
        process?.close()
        killTimer = MainLoopTimer(after: limits.gracePeriod) { [weak self] in
            guard let self, let process else { return }
            logger.warning(
                "A plugin did not end in time and was killed",
                metadata: ["process": "\(process.id)"])
            process.kill()
        }
    }

    /// Kills the plugin.
    func kill() {
        if !isOver { close(reason: "it was stopped") }
        process?.kill()
    }

    /// Kills the plugin, and reports its failure.
    func fail(_ reason: String, _ kind: PluginFailure.Kind = .violation) {
        guard !isOver else { return }
        observer?(.failed(PluginFailure(kind: kind, reason: reason)))
        process?.kill()
        logger.warning(
            "A plugin failed", metadata: ["process": "\(processID)", "reason": "\(reason)"])
        close(reason: reason)
        plugin?.failed(self, reason)
    }

    /// Called after the end of the process, as the last event.
    func ended(_ reason: String) {
        killTimer = nil
        logger.debug("A plugin has ended", metadata: ["reason": "\(reason)"])
        process = nil
        if !isOver, let report, PluginLaunch.hasFailed(report) {
            startFailure = Self.text(lastErrorLine) ?? "no reason was given"
        }
        fail(reason)
        observer?(.ended)
    }

    private func close(reason: String) {
        isOver = true
        timer = nil
        for request in requests.values { request.cancel() }
        let ended = calls.values
        calls = [:]
        for call in ended {
            call.continuation?.resume(throwing: failure(reason))
        }
    }

    private func failure(_ reason: String) -> ProviderError {
        .failed(
            Message(
                "The plugin of {provider} failed: {reason}.",
                ["provider": name, "reason": reason]))
    }
}
