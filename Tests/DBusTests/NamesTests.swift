import DBus
import Testing

@Suite struct NamesTests {
    @Test(arguments: ["/", "/a", "/_", "/org/imagefeed/ImageFeed1", "/0/1"])
    func `an object path is accepted`(text: String) throws {
        #expect(try ObjectPath(text).text == text)
    }

    @Test(arguments: ["", "a", "//", "/a/", "/a//b", "/a-b", "/é", "/a b", "/a\0"])
    func `what is no object path is refused`(text: String) {
        #expect(throws: BusError.invalidName("object path", text)) { try ObjectPath(text) }
    }

    @Test(arguments: ["a.b", "org.example-1.x", ":1.42", ":1.a-b", "_.__"])
    func `a bus name is accepted`(text: String) throws {
        #expect(try BusName(text).text == text)
    }

    @Test(arguments: [
        "", "a", ".a", "a.", "a..b", "1.a", "a.1", ":", ":1", "a.é", "a.b\0",
        "a." + String(repeating: "b", count: 254),
    ])
    func `what is no bus name is refused`(text: String) {
        #expect(throws: BusError.invalidName("bus name", text)) { try BusName(text) }
    }

    @Test(arguments: ["a.b", "org.imagefeed.ImageFeed1.Feed", "_1._2"])
    func `an interface name is accepted`(text: String) throws {
        #expect(try InterfaceName(text).text == text)
        #expect(try ErrorName(text).text == text)
    }

    @Test(arguments: [
        "", "a", "a-b.c", "a.1", ":1.2", "a.b ", "a." + String(repeating: "b", count: 254),
    ])
    func `what is no interface name is refused`(text: String) {
        #expect(throws: BusError.invalidName("interface name", text)) { try InterfaceName(text) }
        #expect(throws: BusError.invalidName("error name", text)) { try ErrorName(text) }
    }

    @Test(arguments: ["Get", "_get", "g1", String(repeating: "b", count: 255)])
    func `a member name is accepted`(text: String) throws {
        #expect(try MemberName(text).text == text)
    }

    @Test(arguments: ["", "1g", "a.b", "a-b", "é", String(repeating: "b", count: 256)])
    func `what is no member name is refused`(text: String) {
        #expect(throws: BusError.invalidName("member name", text)) { try MemberName(text) }
    }

    @Test func `a wrong name in the source traps`() async {
        await #expect(processExitsWith: .failure) { _ = "no path" as ObjectPath }
        await #expect(processExitsWith: .failure) { _ = ObjectPath.root.appending("a/b") }
    }

    @Test func `a path knows what lies below it`() {
        #expect(ObjectPath.root.appending("a").appending("b") == "/a/b")
        #expect(ObjectPath("/a/b/c").elements(below: "/a") == ["b", "c"])
        #expect(ObjectPath("/a").elements(below: .root) == ["a"])
        #expect(ObjectPath("/ab").elements(below: "/a") == nil)
        #expect(ObjectPath("/a").elements(below: "/a") == nil)
        #expect(ObjectPath.root.elements(below: .root) == nil)
    }

    @Test func `only the bus gives unique names`() {
        #expect(BusName(":1.7").isUnique)
        #expect(!BusName("a.b").isUnique)
    }

    @Test func `an error is known by its last element`() {
        #expect(ErrorName.invalidArgs.lastElement == "InvalidArgs")
    }
}
