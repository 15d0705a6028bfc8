import DBus
import EngineModel
import ProviderKit
import Testing

@testable import BusService

@Suite struct ErrorTableTests {
    @Test func `a message is not changed`() {
        let text = "There is no photo; choose another one."
        #expect(ErrorTable.reply(EngineError.notFound(text)).message == text)
        let long = String(repeating: "word ", count: 40) + "end."
        #expect(ErrorTable.reply(ProviderError.failed("\(long)")).message == long)
    }

    @Test func `a word of more than 100 characters is shortened`() {
        let word = String(repeating: "x", count: 250)
        let short = String(repeating: "x", count: 99) + "…"
        let message = ErrorTable.reply(ProviderError.notFound("No “\(word)” at \(word).")).message
        #expect(message.count < 220)
        #expect(message.hasSuffix("\(short)."))
    }

    @Test func `too many passwords are reported as a rate limit`() {
        let reply = ErrorTable.reply(EngineError.tooManyPasswords)
        #expect(reply.name.text == "org.imagefeed.ImageFeed1.Error.RateLimited")
    }

    @Test func `a message has at most a thousand characters`() {
        let message = ErrorTable.reply(
            ProviderError.failed("\(String(repeating: "x ", count: 5000))")
        )
        .message
        #expect(message.count == 1001)
    }
}
