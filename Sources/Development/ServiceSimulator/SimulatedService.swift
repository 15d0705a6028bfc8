internal import LoopbackHTTP

/// A service on loopback that does what a real one does, and fails as a test says.
///
/// May be used on any thread. Stopped with the last reference.
package protocol SimulatedService: AnyObject, Sendable {
    associatedtype State: SimulatedState

    var desk: SimulatorServer<State> { get }
}

extension SimulatedService {
    /// Makes the service unreachable.
    package func stop() { desk.stop() }

    /// Lets it be reached again after ``stop()``, at its addresses, with all that it knows.
    ///
    /// - Throws: ``LoopbackHTTP/SystemError`` when somebody else has taken a port.
    package func resume() throws { try desk.resume() }

    /// Breaks off the connections there are.
    package func disconnect() { desk.disconnect() }

    // MARK: Trouble

    /// Lets requests fail: as many as `times` says, or all until ``recover(_:)``.
    ///
    /// Faults that match the same requests come in the order in which they were switched on.
    package func fail(_ pattern: RequestPattern, _ fault: Fault, times: Int? = nil) {
        desk.withState { $0.faults.add(fault, pattern, times: times) }
    }

    /// Switches off the faults of a pattern.
    package func recover(_ pattern: RequestPattern) {
        desk.withState { $0.faults.remove(pattern) }
    }

    /// Keeps requests at the door, before anything is done, until they are released.
    package func hold(_ pattern: RequestPattern) -> RequestGate { desk.hold(pattern) }

    // MARK: What was asked

    /// The requests so far that match, on all hosts, in their order.
    package func requests(_ pattern: RequestPattern = "*") -> [RecordedRequest] {
        desk.requests.value.filter(pattern.matches)
    }

    /// How many requests there were so far.
    package var requestCount: Int { desk.requests.value.count }

    /// The requests to one host.
    package func requests(on host: RecordedRequest.Host) -> [RecordedRequest] {
        desk.requests.value.filter { $0.host == host }
    }

    /// Waits until so many requests match: they have come, but may not be answered yet.
    @discardableResult
    package func waitForRequests(
        _ pattern: RequestPattern, count: Int = 1
    ) async throws -> [RecordedRequest] {
        try await desk.requests.wait { requests in
            let found = requests.filter(pattern.matches)
            return found.count >= count ? found : nil
        }
    }

    /// Waits until so many requests like the pattern have been answered, and returns these.
    @discardableResult
    package func waitForAnswers(
        _ pattern: RequestPattern, count: Int = 1
    ) async throws -> [RecordedRequest] {
        try await desk.requests.wait { requests in
            let found = requests.filter { $0.status != 0 && pattern.matches($0) }
            return found.count >= count ? found : nil
        }
    }
}
