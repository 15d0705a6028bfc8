import Contract
import DBus
import TestSupport
import Testing

/// Clients that send thousands of calls at once, beside another client. They occupy the processors, so they run after the
/// other tests.
@Suite(.privateBus, .endsDaemons, .timeLimit(.minutes(10)), .serialized) @MainActor
struct ClientFloodTests {
    /// The longest time that a call of another client may take. Without optimization, a page takes many times as long.
    private static let maximumDelay = Duration.milliseconds(BuiltProducts.areOptimized ? 200 : 2000)

    @Test(arguments: [true, false], [5000, 20_000])
    func `a flood delays no client and takes no memory`(isReading: Bool, count: Int) async throws {
        let (daemon, client, account) = try await startWithUser((0..<30).map { "\($0)" })
        let (first, _) = try await account.page("", cursor: "", count: 30)
        #expect(first.count == 30)
        let before = try daemon.memory("VmRSS") >> 10
        var most = 0
        try await compareTimes {
            let (longest, memory) = try await flood(count, isReading, daemon, client, account)
            most = max(most, memory)
            return longest < Self.maximumDelay ? nil : "A call took \(longest)."
        }
        #expect(most - before < 64)
        #expect(try await account.page("", cursor: "", count: 30).photos.count == 30)
    }

    /// Sends calls for pages at once, and calls another method on another connection meanwhile.
    ///
    /// - Returns: The longest time of the other calls, and the largest resident memory of the daemon in MiB.
    private func flood(
        _ count: Int, _ isReading: Bool, _ daemon: RunningDaemon, _ client: TestClient,
        _ account: AccountClient
    ) async throws -> (longest: Duration, memory: Int) {
        let address = try PrivateBus.current.address
        let hasEnded = Observed(false)
        let (path, feed) = (account.path, InterfaceName.feed)
        onThread {
            let result = Result { () throws -> Void in
                try FloodingClient(address)
                    .flood(count, ServiceName.bus, path, feed, isReading: isReading)
            }
            if case .failure(let error) = result { Issue.record(error) }
            hasEnded.update { $0 = true }
        }
        var longest = Duration.zero
        var most = 0
        let proxy = client.proxy(ServiceName.root)
        while !hasEnded.value {
            let start = ContinuousClock.now
            try await proxy.perform("org.freedesktop.DBus.Peer", "Ping")
            longest = max(longest, ContinuousClock.now - start)
            most = max(most, try daemon.memory("VmRSS") >> 10)
            try await Task.sleep(for: .milliseconds(5))
        }
        return (longest, most)
    }
}
