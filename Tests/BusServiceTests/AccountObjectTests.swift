import EngineModel
import ProviderKit
import Testing

@testable import BusService

@Suite @MainActor struct AccountObjectTests {
    @Test func `the end of a rate limit on another day has its date`() throws {
        let end = Timestamp.now + .seconds(2 * 86_400)
        let time = try #require(end.localText("%Y-%m-%d %H:%M"))
        #expect(AccountState.rateLimited(until: end).reason.contains(time))
    }
}
