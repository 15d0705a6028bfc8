import ProviderKit
import TestSupport
import Testing

@testable import MastodonProvider

/// The time for which a large response holds the main thread.
@Suite(.timeLimit(.minutes(10))) @MainActor
struct DecodingLoadTests {
    @Test func `a large response is decoded on another thread`() async throws {
        let images = (0..<10_000).map { Sample.image("\($0)") }
        let tags = (0..<100_000).map { ##"{"name":"#\##($0)"}"## }
        let status = Sample.status("1", images, #""tags":[\#(tags.joined(separator: ","))]"#)
        let fixture = Fixture(statuses: [status])
        let clock = ContinuousClock()
        let isEnded = Observed(false)
        let start = clock.now
        let request = Task {
            defer { isEnded.update { $0 = true } }
            return try await fixture.session.page("home").photos.count
        }
        var last = start
        var longest = Duration.zero
        while !isEnded.value {
            try await Task.sleep(for: .milliseconds(1))
            longest = max(longest, clock.now - last)
            last = clock.now
        }
        #expect(try await request.value == RemotePage.maximumCount)
        #expect(longest < (last - start) / 4, "\(longest) of \(last - start)")
    }
}
