import Testing

@testable import Desktop

struct NetworkIdentityTests {
    private static let wifi: NetworkIdentity.Addresses = ["wlan0": [[192, 168, 0, 7]]]
    private static let both = wifi.merging(["tun0": [[10, 8, 0, 2]]]) { $1 }

    @Test func `an address that is added or removed changes the network`() {
        var identity = NetworkIdentity(addresses: Self.wifi)
        var changes: [Bool] = []
        for addresses in [Self.wifi, Self.both, Self.both, Self.wifi] {
            changes.append(identity.update(addresses: addresses, isRemoved: false))
        }
        #expect(changes == [false, true, false, true])
    }

    @Test func `an address that was removed and is back changes the network`() {
        var identity = NetworkIdentity(addresses: Self.wifi)
        let changes = [true, false].map {
            identity.update(addresses: Self.wifi, isRemoved: $0)
        }
        #expect(changes == [true, false])
    }

    @Test func `another primary connection changes the network`() {
        var identity = NetworkIdentity(addresses: [:])
        let paths = ["", "/", "/a/1", "/a/1", "/", "/a/1", "/a/2", "", "/a/3"]
        let changes = paths.map { identity.update(connection: $0) }
        #expect(changes == [false, false, false, false, false, false, true, false, true])
    }
}

struct AddressRemovalTests {
    private static func message(
        _ type: UInt16, scope: UInt8 = 0, attributes: [UInt8] = []
    ) -> [UInt8] {
        let length = UInt32(24 + attributes.count)
        var bytes = withUnsafeBytes(of: length) { Array($0) }
        bytes += withUnsafeBytes(of: type) { Array($0) }
        bytes += [UInt8](repeating: 0, count: 10)
        bytes += [2, 24, 0, scope, 3, 0, 0, 0] + attributes
        bytes += [UInt8](repeating: 0, count: (4 - bytes.count % 4) % 4)
        return bytes
    }

    private func reportsRemoval(_ bytes: [UInt8]) -> Bool {
        bytes.withUnsafeBytes { NetworkWatch.reportsRemoval($0) }
    }

    @Test func `a removed address is reported, also after other messages`() {
        #expect(reportsRemoval(Self.message(21)))
        #expect(reportsRemoval(Self.message(20, attributes: [1, 2, 3, 4, 5]) + Self.message(21)))
    }

    @Test func `added addresses, and addresses of the link or of this machine, are not reported`() {
        #expect(!reportsRemoval(Self.message(20)))
        #expect(!reportsRemoval(Self.message(21, scope: 253)))
        #expect(!reportsRemoval(Self.message(21, scope: 254)))
    }

    @Test func `incomplete messages are not read beyond their end`() {
        let message = Self.message(21)
        for count in 0..<24 { #expect(!reportsRemoval(Array(message.prefix(count)))) }
        #expect(!reportsRemoval([UInt8](repeating: 0, count: 64)))
    }
}
