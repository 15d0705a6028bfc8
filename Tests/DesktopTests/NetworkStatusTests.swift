import Testing

@testable import Desktop

@Suite struct NetworkStatusTests {
    @Test(arguments: [
        // Unknown states: the kernel decides.
        (true, 0, 0, true), (false, 0, 0, false),
        // Asleep, disconnected, connecting, connected locally.
        (true, 10, 0, false), (true, 20, 1, false), (true, 40, 0, false), (true, 50, 0, false),
        // Connected to a site, connected globally.
        (true, 60, 3, true), (true, 70, 4, true), (true, 70, 0, true),
        // No connectivity, a captive portal, limited connectivity.
        (true, 70, 1, false), (true, 70, 2, false), (true, 70, 3, true),
        (false, 70, 4, false),
    ])
    func `the network counts as available unless a source denies it`(
        hasAddress: Bool, state: UInt32, connectivity: UInt32, isOnline: Bool
    ) {
        let word = NetworkStatus.ManagerState(state: state, connectivity: connectivity)
        #expect(NetworkStatus(hasAddress: hasAddress, manager: word).isOnline == isOnline)
    }

    @Test func `the kernel decides without NetworkManager`() {
        #expect(NetworkStatus().isOnline)
        #expect(!NetworkStatus(hasAddress: false).isOnline)
        #expect(!NetworkStatus().isMetered)
    }

    @Test(arguments: [(0, false), (1, true), (2, false), (3, true), (4, false)])
    func `a guessed metered connection counts as metered`(metered: UInt32, isMetered: Bool) {
        #expect(NetworkStatus(manager: .init(metered: metered)).isMetered == isMetered)
    }
}
