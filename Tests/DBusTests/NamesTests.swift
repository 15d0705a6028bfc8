import DBus
import Testing

@Suite struct NamesTests {
    @Test(arguments: ["/", "/a", "/_", "/org/imagefeed/ImageFeed1", "/0/1"])
    func `a valid object path is accepted`(text: String) throws {
        #expect(try ObjectPath(text).text == text)
    }

    @Test(arguments: ["", "a", "//", "/a/", "/a//b", "/a-b", "/é", "/a b", "/a\0"])
    func `an invalid object path is rejected`(text: String) {
        #expect(throws: BusError.invalidName("object path", text)) { try ObjectPath(text) }
    }

    @Test(arguments: ["a.b", "org.example-1.x", ":1.42", ":1.a-b", "_.__"])
    func `a valid bus name is accepted`(text: String) throws {
        #expect(try BusName(text).text == text)
    }

    @Test(arguments: [
        "", "a", ".a", "a.", "a..b", "1.a", "a.1", ":", ":1", "a.é", "a.b\0",
        "a." + String(repeating: "b", count: 254),
    ])
    func `an invalid bus name is rejected`(text: String) {
        #expect(throws: BusError.invalidName("bus name", text)) { try BusName(text) }
    }

    @Test(arguments: ["a.b", "org.imagefeed.ImageFeed1.Feed", "_1._2"])
    func `a valid interface name is accepted`(text: String) throws {
        #expect(try InterfaceName(text).text == text)
        #expect(try ErrorName(text).text == text)
    }

    @Test(arguments: [
        "", "a", "a-b.c", "a.1", ":1.2", "a.b ", "a." + String(repeating: "b", count: 254),
    ])
    func `an invalid interface name is rejected`(text: String) {
        #expect(throws: BusError.invalidName("interface name", text)) { try InterfaceName(text) }
        #expect(throws: BusError.invalidName("error name", text)) { try ErrorName(text) }
    }

    @Test(arguments: ["Get", "_get", "g1", String(repeating: "b", count: 255)])
    func `a valid member name is accepted`(text: String) throws {
        #expect(try MemberName(text).text == text)
    }

    @Test(arguments: ["", "1g", "a.b", "a-b", "é", String(repeating: "b", count: 256)])
    func `an invalid member name is rejected`(text: String) {
        #expect(throws: BusError.invalidName("member name", text)) { try MemberName(text) }
    }

    @Test func `an invalid name literal traps`() async {
        await #expect(processExitsWith: .failure) { _ = "no path" as ObjectPath }
        await #expect(processExitsWith: .failure) { _ = ObjectPath.root.appending("a/b") }
    }

    @Test func `a path returns the elements below an ancestor`() {
        #expect(ObjectPath.root.appending("a").appending("b") == "/a/b")
        #expect(ObjectPath("/a/b/c").elements(below: "/a") == ["b", "c"])
        #expect(ObjectPath("/a").elements(below: .root) == ["a"])
        #expect(ObjectPath("/ab").elements(below: "/a") == nil)
        #expect(ObjectPath("/a").elements(below: "/a") == nil)
        #expect(ObjectPath.root.elements(below: .root) == nil)
    }

    @Test func `a unique name is recognised by its colon`() {
        #expect(BusName(":1.7").isUnique)
        #expect(!BusName("a.b").isUnique)
    }

    @Test func `the last element of an error name is returned`() {
        #expect(ErrorName.invalidArgs.lastElement == "InvalidArgs")
    }
}
