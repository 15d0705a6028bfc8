internal import LoopbackHTTP
internal import Synchronization

/// What a simulated service knows, and its answer to each request.
///
/// A value: the ``SimulatorServer`` keeps it behind a lock.
package protocol SimulatedState: Sendable {
    var faults: FaultPlan { get set }

    /// Who is behind the token of a request, if it is valid.
    func username(_ request: RecordedRequest) -> String?

    /// Answers. `fault` is what goes wrong with the request; see ``Fault/apply(_:to:)``.
    mutating func answer(_ request: RecordedRequest, _ fault: Fault?) -> Reply
}

/// The servers of a simulated service: they record each request, keep it at the door if a test wants that, and
/// have it answered.
package final class SimulatorServer<State: SimulatedState>: Sendable {
    private let core: Core<State>
    private let hosts: [RecordedRequest.Host]
    private let servers: Observed<[LoopbackServer]>

    /// Starts a server for each host.
    ///
    /// - Parameters:
    ///   - state: What the service knows at first.
    ///   - hosts: With their ports; 0 for any.
    /// - Throws: ``LoopbackHTTP/SystemError``.
    package init(_ state: State, _ hosts: [(host: RecordedRequest.Host, port: UInt16)]) throws {
        let core = Core(state)
        self.core = core
        self.hosts = hosts.map(\.host)
        servers = Observed(
            try hosts.map { host, port in
                try LoopbackServer(port: port) { core.answer($0, on: host) }
            })
    }

    deinit { core.holds.value.forEach { $0.release() } }

    /// The origin of a host: `http://127.0.0.1:port`, no slash at its end.
    package func origin(_ host: RecordedRequest.Host) -> String {
        zip(hosts, servers.value).first { $0.0 == host }?.1.origin ?? ""
    }

    package func withState<Value: Sendable>(_ body: (inout State) -> Value) -> Value {
        core.state.withLock { body(&$0) }
    }

    package func stop() { servers.value.forEach { $0.stop() } }

    package func resume() throws {
        let new = try zip(hosts, servers.value).map { [core] host, server in
            try LoopbackServer(port: server.port) { core.answer($0, on: host) }
        }
        servers.update { $0 = new }
    }

    package func disconnect() { servers.value.forEach { $0.disconnect() } }

    func hold(_ pattern: RequestPattern) -> RequestGate {
        let hold = RequestGate(pattern)
        core.holds.append(hold)
        return hold
    }

    var requests: Observed<[RecordedRequest]> { core.requests }
}

/// What the threads of the servers share.
private final class Core<State: SimulatedState>: Sendable {
    let state: Mutex<State>
    let requests = Observed<[RecordedRequest]>()
    let holds = Observed<[RequestGate]>()

    init(_ state: State) { self.state = Mutex(state) }

    func answer(_ request: LoopbackRequest, on host: RecordedRequest.Host) -> LoopbackResponse {
        let recorded = record(request, on: host)
        holds.value.filter { $0.pattern.matches(recorded) }.forEach { $0.wait() }
        let (reply, username) = state.withLock { state in
            // Afterwards the token may be another's, or nobody's.
            let username = state.username(recorded)
            let fault = state.faults.next(for: recorded)
            return (state.answer(recorded, fault), username)
        }
        requests.update { requests in
            requests[recorded.number].status = reply.status
            requests[recorded.number].username = username
        }
        return reply.response
    }

    private func record(
        _ request: LoopbackRequest, on host: RecordedRequest.Host
    ) -> RecordedRequest {
        var recorded: RecordedRequest?
        requests.update { requests in
            let new = RecordedRequest(
                number: requests.count, host: host, method: request.method,
                target: request.target,
                headers: request.headers.map { ($0.name, $0.value) }, body: request.body)
            requests.append(new)
            recorded = new
        }
        guard let recorded else { preconditionFailure("the change was not run") }
        return recorded
    }
}
