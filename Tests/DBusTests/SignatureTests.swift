import DBus
import Testing

@Suite struct SignatureTests {
    @Test(arguments: ["", "s", "aa{sv}s", "(ss)", "a{s(ii)}", "h"])
    func `a signature that obeys the grammar is accepted`(text: String) throws {
        #expect(try Signature(text).text == text)
    }

    @Test(arguments: [
        "a", "{sv}", "()", "(s", "z", "a{vs}", String(repeating: "a", count: 33) + "s",
    ])
    func `a signature that breaks the grammar is refused`(text: String) {
        #expect((try? Signature(text)) == nil)
    }

    @Test func `a signature is split into its complete types`() {
        #expect(Signature("aa{sv}s(uu)").completeTypes == ["aa{sv}", "s", "(uu)"])
    }
}
