import Testing

@testable import Contract

@Suite struct VersionTests {
    @Test func `the user agent has an address only if a publisher set one`() {
        #expect(makeUserAgent(homepage: "") == "ImageFeed/\(programVersion)")
        #expect(
            makeUserAgent(homepage: "https://example.org")
                == "ImageFeed/\(programVersion) (+https://example.org)")
        #expect(
            makeUserAgent(homepage: "", contact: "ada@example.org")
                == "ImageFeed/\(programVersion) (ada@example.org)")
        #expect(
            makeUserAgent(homepage: "https://example.org", contact: "ada@example.org")
                == "ImageFeed/\(programVersion) (+https://example.org; ada@example.org)")
    }
}
