internal import LoopbackHTTP
internal import Synchronization

/// The state of a simulated service, which creates the response to each request.
///
/// A value type: ``SimulatorServer`` protects it with a lock.
package protocol SimulatedState: Sendable {
    var faults: FaultPlan { get set }

    /// Returns the user of a request's token, if it is valid.
    func username(_ request: RecordedRequest) -> String?

    /// Processes a request, applies its fault, and creates the response.
    mutating func reply(to request: RecordedRequest, _ fault: Fault?) -> Reply
}

/// The servers of a simulated service. They record each request, delay it if a ``RequestGate`` matches, and pass it to
/// the state.
package final class SimulatorServer<State: SimulatedState>: Sendable {
    private let core: Core<State>
    private let hosts: [RecordedRequest.Host]
    private let servers: Observed<[LoopbackServer]>

    /// Starts a server for each host.
    ///
    /// - Parameters:
    ///   - state: The initial state.
    ///   - hosts: The hosts with their ports; 0 for any free port.
    /// - Throws: ``LoopbackHTTP/SystemError``.
    package init(_ state: State, _ hosts: [(host: RecordedRequest.Host, port: UInt16)]) throws {
        let core = Core(state)
        self.core = core
        self.hosts = hosts.map(\.host)
        servers = Observed(
            try hosts.map { host, port in
                try LoopbackServer(port: port) { core.respond(to: $0, on: host) }
            })
    }

    deinit { core.gates.value.forEach { $0.release() } }

    /// Returns the origin of a host: `http://127.0.0.1:port`, without a trailing slash.
    package func origin(_ host: RecordedRequest.Host) -> String {
        zip(hosts, servers.value).first { $0.0 == host }?.1.origin ?? ""
    }

    package func withState<Value: Sendable>(_ body: (inout State) -> Value) -> Value {
        core.state.withLock { body(&$0) }
    }

    package func stop() { servers.value.forEach { $0.stop() } }

    package func resume() throws {
        let new = try zip(hosts, servers.value).map { [core] host, server in
            try LoopbackServer(port: server.port) { core.respond(to: $0, on: host) }
        }
        servers.update { $0 = new }
    }

    package func disconnect() { servers.value.forEach { $0.disconnect() } }

    func hold(_ pattern: RequestPattern) -> RequestGate {
        let gate = RequestGate(pattern)
        core.gates.append(gate)
        return gate
    }

    var requests: Observed<[RecordedRequest]> { core.requests }
}

/// The state that the threads of the servers share.
private final class Core<State: SimulatedState>: Sendable {
    let state: Mutex<State>
    let requests = Observed<[RecordedRequest]>()
    let gates = Observed<[RequestGate]>()

    init(_ state: State) { self.state = Mutex(state) }

    func respond(to request: LoopbackRequest, on host: RecordedRequest.Host) -> LoopbackResponse {
        let recorded = record(request, on: host)
        gates.value.filter { $0.pattern.matches(recorded) }.forEach { $0.wait() }
        let (reply, username) = state.withLock { state in
            // The user is read first, because the request may revoke the token.
            let username = state.username(recorded)
            let fault = state.faults.next(for: recorded)
            return (state.reply(to: recorded, fault), username)
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
        guard let recorded else { preconditionFailure("the update closure did not run") }
        return recorded
    }
}
