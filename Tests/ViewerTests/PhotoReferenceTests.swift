import Contract
import DBus
import Testing

@testable import Viewer

@Suite struct PhotoReferenceTests {
    private let ada = ServiceName.accounts.appending("unsplash_ada")
    private let bob = ServiceName.accounts.appending("unsplash_bob")

    @Test func `a photo is the same in the feed of its account and in the combined feed`() {
        let own = PhotoReference("a/b", in: ada)
        #expect(own == PhotoReference("unsplash_ada/a/b", in: ServiceName.combined))
        #expect(own != PhotoReference("unsplash_bob/a/b", in: ServiceName.combined))
        #expect(own.combinedID == "unsplash_ada/a/b")
    }

    @Test func `a photo has an ID only in the feeds that can contain it`() {
        let photo = PhotoReference("unsplash_ada/7", in: ServiceName.combined)
        #expect(photo.id(in: ada) == "7")
        #expect(photo.id(in: ServiceName.combined) == "unsplash_ada/7")
        #expect(photo.id(in: bob) == nil)
    }
}
