import Testing

@testable import Translation

@Suite struct TranslationTests {
    @Test func `a text has the values in place of their names`() {
        #expect(tr("{a} and {b}", ["b": "{a}", "a": "x"]) == "x and {a}")
        #expect(tr("{missing} stays, as does {", ["a": "x"]) == "{missing} stays, as does {")
        #expect(trn("{count} photo", "{count} photos", 1) == "1 photo")
        #expect(
            trn("{count} photo of {name}", "{count} photos of {name}", 2, ["name": "a"])
                == "2 photos of a")
    }

    @Test func `a message with a message as its value is a sentence in English`() {
        let reason = Message("{server} does not answer.", ["server": "example.org"])
        let message = Message(
            "{account}: {reason}",
            messages: [
                "account": Message(verbatim: "ada"), "reason": reason,
            ])
        #expect(message.english == "ada: example.org does not answer.")
        #expect(message == Message(verbatim: "ada: example.org does not answer."))
    }

    @Test func `a stored message has its text and its values`() {
        let message = Message("On {server}", ["server": "example.org"])
        #expect(Message(stored: message.stored) == message)
        #expect(Message(stored: message.stored).stored == message.stored)
        #expect(Message(stored: Message("Home").stored).stored != "Home")
        #expect(Message(stored: "Holidays") == Message(verbatim: "Holidays"))
        #expect(Message(verbatim: "Holidays").stored == "Holidays")
    }

    @Test(arguments: [
        ([:], nil),
        (["LANG": "C"], nil),
        (["LANG": "C.UTF-8"], nil),
        (["LANG": "C", "LANGUAGE": "de"], nil),
        (["LANG": "de_DE.UTF-8"], "de_DE.UTF-8"),
        (["LANG": "de_DE.UTF-8", "LC_ALL": "POSIX"], nil),
        (["LANG": "de_DE.UTF-8", "LC_ALL": ""], "de_DE.UTF-8"),
        (["LANG": "de_DE.UTF-8", "LC_MESSAGES": "fr_FR"], "fr_FR"),
        (["LANG": "en_US.UTF-8", "LANGUAGE": "fr:de"], "fr:de"),
    ])
    func `the language is that of the environment`(
        _ environment: [String: String], _ language: String?
    ) {
        #expect(Catalog.language { environment[$0] } == language)
    }
}
