import Contract
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

    @Test func `a pending like is encoded`() throws {
        var photo = Photo(id: PhotoID("p"))
        let confirmed = try bytes(photo)
        photo.isPending = true
        #expect(try bytes(photo) != confirmed)
    }

    @Test func `a focal point within the photo is encoded`() throws {
        var photo = Photo(id: PhotoID("p"))
        photo.focus = FocalPoint(x: 0.25, y: -1)
        let text = String(decoding: try bytes(photo), as: UTF8.self)
        #expect(text.contains("focus\0\u{4}(dd)\0"))
        #expect(FocalPoint(x: 1.01, y: 0) == nil)
        #expect(FocalPoint(x: 0, y: .nan) == nil)
    }
}
