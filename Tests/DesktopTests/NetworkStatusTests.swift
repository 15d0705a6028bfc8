import Desktop
import Testing

@Suite struct NetworkStatusTests {
    @Test(arguments: [
        // Nothing is known: what the kernel says.
        (true, 0, 0, true), (false, 0, 0, false),
        // Asleep, disconnected, connecting, local.
        (true, 10, 0, false), (true, 20, 1, false), (true, 40, 0, false), (true, 50, 0, false),
        // A site, the world.
        (true, 60, 3, true), (true, 70, 4, true), (true, 70, 0, true),
        // No way out, a page that wants something first, not all of it.
        (true, 70, 1, false), (true, 70, 2, false), (true, 70, 3, true),
        (false, 70, 4, false),
    ])
    func `the network is there if nobody says it is not`(
        hasAddress: Bool, state: UInt32, connectivity: UInt32, isOnline: Bool
    ) {
        let word = NetworkStatus.ManagerState(state: state, connectivity: connectivity)
        #expect(NetworkStatus(hasAddress: hasAddress, manager: word).isOnline == isOnline)
    }

    @Test func `without a manager the kernel is believed`() {
        #expect(NetworkStatus().isOnline)
        #expect(!NetworkStatus(hasAddress: false).isOnline)
        #expect(!NetworkStatus().isMetered)
    }

    @Test(arguments: [(0, false), (1, true), (2, false), (3, true), (4, false)])
    func `a guess is enough to save`(metered: UInt32, isMetered: Bool) {
        #expect(NetworkStatus(manager: .init(metered: metered)).isMetered == isMetered)
    }
}
