import Configuration
import Testing

@Suite struct KeyFileTests {
    @Test func `a bad line costs that line`() {
        let file = KeyFile("[Provider local]\nDirectory=/a b\nwhat is this\nEnabled=true\n")
        #expect(file.groups == ["Provider local": ["Directory": "/a b", "Enabled": "true"]])
        #expect(file.badLines.map(\.number) == [3])
    }

    @Test(arguments: ["", "\n\n", "# a remark\n"])
    func `a file without values is no problem`(text: String) {
        let file = KeyFile(text)
        #expect(file.groups.isEmpty)
        #expect(file.badLines.isEmpty)
    }

    @Test func `a value before the first group is a bad line`() {
        #expect(
            KeyFile("Directory=/x\n[Daemon]\nNotifications=false").badLines.map(\.number) == [1])
    }

    @Test func `bytes that are no UTF-8 and nothing else cost their line`() {
        let file = KeyFile("[A]\nk=\u{fffd}\nl=m")
        #expect(file.groups["A"]?["l"] == "m")
    }
}
