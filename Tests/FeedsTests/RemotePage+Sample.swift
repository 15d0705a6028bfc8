import ProviderKit

extension RemotePage {
    /// Creates a page of numbered photos, the lowest number first.
    ///
    /// - Parameters:
    ///   - numbers: The numbers of the photos.
    ///   - isKeyed: True if the entries have keys.
    ///   - isLiked: The liked state of the photos.
    ///   - isLast: True if no page follows.
    ///   - bytes: The size of each description.
    /// - Returns: The page.
    static func sample(
        _ numbers: Range<Int>, isKeyed: Bool, isLiked: Bool = false, isLast: Bool = false,
        bytes: Int = 0
    ) -> RemotePage {
        func key(_ number: Int) -> String { "k\(100_000 - number)" }
        let photos = numbers.map { number in
            var photo = Photo(id: PhotoID("p\(number)"))
            photo.description = String(repeating: "x", count: bytes)
            photo.isLiked = isLiked
            var remote = RemotePhoto(photo)
            if isKeyed { remote.entry = key(number) }
            return remote
        }
        var page = RemotePage(photos)
        if !isLast { page.next = "\(numbers.upperBound)" }
        if isKeyed { page.end = key(numbers.upperBound - 1) }
        return page
    }
}
