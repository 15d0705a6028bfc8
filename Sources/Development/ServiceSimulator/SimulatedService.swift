internal import LoopbackHTTP

/// A simulated service on loopback, with faults on demand.
///
/// Can be used on any thread. The service stops when its last reference is released.
package protocol SimulatedService: AnyObject, Sendable {
    associatedtype State: SimulatedState

    var simulator: SimulatorServer<State> { get }
}

extension SimulatedService {
    /// Makes the service unreachable.
    package func stop() { simulator.stop() }

    /// Makes the service reachable again after ``stop()``, at the same addresses and with its state.
    ///
    /// - Throws: ``LoopbackHTTP/SystemError`` if a port is in use.
    package func resume() throws { try simulator.resume() }

    /// Closes the existing connections.
    package func disconnect() { simulator.disconnect() }

    // MARK: Faults

    /// Adds a fault for matching requests, which is used `times` times or until ``recover(_:)``.
    ///
    /// Faults that match the same request are used in the order of activation.
    package func fail(_ pattern: RequestPattern, _ fault: Fault, times: Int? = nil) {
        simulator.withState { $0.faults.add(fault, pattern, times: times) }
    }

    /// Removes the faults of a pattern.
    package func recover(_ pattern: RequestPattern) {
        simulator.withState { $0.faults.remove(pattern) }
    }

    /// Delays the processing of matching requests until they are released.
    package func hold(_ pattern: RequestPattern) -> RequestGate { simulator.hold(pattern) }

    // MARK: Requests

    /// The matching requests so far, on all hosts, in order.
    package func requests(_ pattern: RequestPattern = "*") -> [RecordedRequest] {
        simulator.requests.value.filter(pattern.matches)
    }

    /// The number of requests so far.
    package var requestCount: Int { simulator.requests.value.count }

    /// The requests to one host so far.
    package func requests(on host: RecordedRequest.Host) -> [RecordedRequest] {
        simulator.requests.value.filter { $0.host == host }
    }

    /// Waits until a number of matching requests has arrived; their responses may be pending.
    @discardableResult
    package func waitForRequests(
        _ pattern: RequestPattern, count: Int = 1
    ) async throws -> [RecordedRequest] {
        try await simulator.requests.wait { requests in
            let found = requests.filter(pattern.matches)
            return found.count >= count ? found : nil
        }
    }

    /// Waits until a number of matching requests has been processed, and returns them.
    @discardableResult
    package func waitForReplies(
        _ pattern: RequestPattern, count: Int = 1
    ) async throws -> [RecordedRequest] {
        try await simulator.requests.wait { requests in
            let found = requests.filter { $0.status != 0 && pattern.matches($0) }
            return found.count >= count ? found : nil
        }
    }
}
