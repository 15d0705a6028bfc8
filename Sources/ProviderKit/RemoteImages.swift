/// A session whose images do not lie open on the web, or whose addresses have to be asked for.
public protocol RemoteImages: RemoteFeed {
    /// The address of an image of a photo that names none itself.
    ///
    /// - Returns: nil where there is no image of that size.
    func imageAddress(_ photo: RemotePhoto, _ size: ImageSize) async throws -> String?

    /// Asks for images: carries the account's credentials where they belong.
    var imageClient: any HTTPClient { get }
}

extension RemoteImages {
    public func imageAddress(_ photo: RemotePhoto, _ size: ImageSize) async throws -> String? {
        nil
    }
}
