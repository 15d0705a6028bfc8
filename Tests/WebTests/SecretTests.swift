import Testing
import Web

struct SecretTests {
    @Test func `a secret cannot be printed`() {
        let secret = Secret("hidden")
        var dump = ""
        Swift.dump(secret, to: &dump)
        for text in ["\(secret)", String(reflecting: secret), "\([secret])", dump] {
            #expect(!text.contains("hidden"), "\(text)")
        }
    }

    @Test func `a secret provides its bytes and compares with another secret`() {
        let secret = Secret("ключ")
        #expect(secret.withText { $0 } == "ключ")
        #expect(secret.matches(Secret(Array("ключ".utf8))))
        #expect(!secret.matches(Secret("ключи")))
        #expect(!secret.matches(Secret("клюй")))
        #expect(Secret("").isEmpty)
    }
}
