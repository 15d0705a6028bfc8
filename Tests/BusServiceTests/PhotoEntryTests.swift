import ProviderKit
import Testing

@testable import BusService
@testable import DBus

@Suite struct PhotoEntryTests {
    private func bytes(_ photo: Photo) throws -> [UInt8] {
        var encoder = Encoder()
        try PhotoEntry(photo, account: "/a").encode(into: &encoder)
        return encoder.bytes
    }

    @Test func `a like that is on its way is told`() throws {
        var photo = Photo(id: PhotoID("p"))
        let settled = try bytes(photo)
        photo.isPending = true
        #expect(try bytes(photo) != settled)
    }
}
