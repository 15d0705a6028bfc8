/// A session whose images need credentials, or whose image addresses need a request.
///
/// A session without this protocol has public images: the engine fetches ``RemotePhoto/images`` without credentials.
public protocol RemoteImages: RemoteFeed {
    /// Fetches the address of an image. Called only for photos without ``RemotePhoto/images``.
    ///
    /// - Parameters:
    ///   - photo: The photo. In a plugin, only its ID and ``RemotePhoto/note`` are set.
    ///   - size: The size.
    /// - Returns: The address; nil if the photo has no image of that size.
    /// - Throws: ``ProviderError``, ``HTTPError``.
    func imageAddress(_ photo: RemotePhoto, _ size: ImageSize) async throws -> String?

    /// Returns the address of the file that a download writes; nil for the image of the size ``ImageSize/full``. Sends
    /// no request. A plugin cannot implement this method.
    ///
    /// - Parameter photo: The photo. Its properties may be from the cache.
    /// - Returns: The address.
    func downloadAddress(_ photo: RemotePhoto) -> String?

    /// The client that fetches images. It adds the credentials of the account to requests of its origins. Return
    /// ``SessionPorts/http``.
    var imageClient: any HTTPClient { get }
}

extension RemoteImages {
    /// Returns nil.
    public func imageAddress(_ photo: RemotePhoto, _ size: ImageSize) async throws -> String? {
        nil
    }

    /// Returns nil.
    public func downloadAddress(_ photo: RemotePhoto) -> String? { nil }
}
