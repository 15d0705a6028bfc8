internal import Contract
internal import DBus

/// A load of many concurrent calls.
final class ManyCalls {
    private static let width = 16

    private let connection: BusConnection
    private let account: ObjectPath
    private var nextCount: UInt32 = 20

    init(_ fixture: DaemonFixture, _ account: ObjectPath) {
        connection = fixture.connection
        self.account = account
    }

    /// Makes a number of calls of several kinds.
    func make(_ count: Int) async throws {
        let lanes = (0..<Self.width).map { lane in
            Task {
                for number in 0..<count / Self.width {
                    _ = try await connection.call(message(lane + number))
                }
            }
        }
        for lane in lanes { try await lane.value }
    }

    private func message(_ number: Int) throws -> BusMessage {
        switch number % 8 {
        case 0: return try .objects()
        case 1, 2:
            nextCount = nextCount == 60 ? 20 : nextCount + 1
            return try .page(nextCount, of: account)
        case 3, 4: return try .page(30, of: account)
        default: return try .state(of: account)
        }
    }
}
