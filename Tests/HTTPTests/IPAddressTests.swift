import Testing

@testable import HTTP

struct IPAddressTests {
    @Test(arguments: [
        "1.1.1.1", "93.184.216.34", "172.15.255.255", "172.32.0.1", "100.63.0.1", "100.128.0.1",
        "198.17.0.1", "223.255.255.255", "2606:4700::1111", "2a00:1450:4001:82a::200e",
        "::ffff:1.1.1.1", "64:ff9b::1.1.1.1", "2002:0101:0101::1",
    ])
    func `an address on the Internet is public`(text: String) throws {
        #expect(try #require(IPAddress(text)).isPublic)
    }

    @Test(arguments: [
        "0.0.0.0", "0.1.2.3", "10.0.0.1", "100.64.0.1", "100.127.255.255", "127.0.0.1",
        "127.255.255.255", "169.254.169.254", "172.16.0.1", "172.31.255.255", "192.0.0.1",
        "192.0.2.1", "192.168.1.1", "198.18.0.1", "198.19.255.255", "198.51.100.1", "203.0.113.1",
        "224.0.0.1", "239.255.255.255", "240.0.0.1", "255.255.255.255",
        "::", "::1", "::7f00:1", "::ffff:127.0.0.1", "::ffff:10.0.0.1", "::ffff:192.168.0.1",
        "::ffff:0:7f00:1", "64:ff9b::10.0.0.1", "64:ff9b::127.0.0.1", "64:ff9b:1::1.1.1.1",
        "2002:7f00:1::1", "2002:c0a8:101::1", "fe80::1", "fec0::1", "fc00::1", "fd12:3456::1",
        "ff02::1", "2001::1", "2001:2::1", "2001:db8::1", "3fff::1", "100::1", "4000::1",
    ])
    func `a reserved address is not public`(text: String) throws {
        #expect(try !#require(IPAddress(text)).isPublic)
    }

    @Test(arguments: [
        ("127.0.0.1", true), ("127.9.9.9", true), ("::1", true), ("::ffff:127.0.0.1", true),
        ("0.0.0.0", false), ("::", false), ("10.0.0.1", false), ("::2", false),
    ])
    func `loopback addresses are known in both IP versions`(text: String, isLoopback: Bool) throws {
        #expect(try #require(IPAddress(text)).isLoopback == isLoopback)
    }

    @Test(arguments: [
        "", "localhost", "127.1", "0x7f.1", "1.2.3.4.5", "[::1]", "::1%lo", "1.2.3.4 ",
    ])
    func `other notations are not accepted`(text: String) {
        #expect(IPAddress(text) == nil)
    }
}
