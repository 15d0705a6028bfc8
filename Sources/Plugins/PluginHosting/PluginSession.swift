internal import JSONFormat
internal import PluginProtocol
internal import ProviderKit
internal import Translation

/// The session of an account of a plugin.
///
/// The session calls the plugin, and checks every result. The manifest lists the supported features.
nonisolated final class PluginSession: ProfileSession, RemoteImages, RemoteLikes {
    let events: AsyncStream<SessionEvent>
    let plugin: Plugin
    let account: PluginAccount

    init(_ plugin: Plugin, _ identity: AccountIdentity, _ ports: SessionPorts) {
        let (events, continuation) = AsyncStream<SessionEvent>.makeStream()
        self.events = events
        self.plugin = plugin
        account = PluginAccount(plugin, identity, ports, events: continuation)
        continuation.yield(.status(.ready))
    }

    func close() { account.events?.finish() }

    /// The session, if the plugin supports likes.
    var remoteLikes: (any RemoteLikes)? { offers(.like) ? self : nil }

    private func offers(_ capability: ProviderInfo.Capability) -> Bool {
        plugin.manifest.info.capabilities.contains(capability)
    }

    func profile() async throws -> Profile {
        guard offers(.profile) else {
            let name = account.identity.username
            return Profile(username: name, name: name)
        }
        return try await plugin.call(.profile, [:], account) {
            [account] reader throws(PluginFault) in try Profile(reader, account.hosts)
        }
    }

    // MARK: RemoteFeed

    var cacheVariant: String { plugin.cacheVariant }
    var hasStablePageTokens: Bool { plugin.manifest.hasStablePageTokens }

    func accepts(_ source: SourceID) -> Bool { plugin.manifest.accepts(source) }

    func sources() async throws -> [Source] {
        let sources = try await plugin.call(.sources, [:], account) {
            reader throws(PluginFault) in
            try reader.expectObject()
            return try reader.elements("sources", atMost: Source.maximumNumber).map {
                (element) throws(PluginFault) in try Source(element)
            }
        }
        // Sources that do not match the manifest are omitted.
        let unnamed = sources.map(\.id).filter { !accepts($0) }
        if !unnamed.isEmpty { await plugin.reportUnnamedSources(unnamed) }
        return sources.filter { accepts($0.id) }
    }

    func fetchPage(_ source: SourceID, from place: String?) async throws -> RemotePage {
        try await plugin.call(
            .page, ["source": .string(source.text), "place": JSON(place)], account
        ) { [account, plugin] reader throws(PluginFault) in
            var page = try RemotePage(reader, account.hosts)
            page.photos = page.photos.map(plugin.shown)
            return page
        }
    }

    func fetchPhoto(_ id: PhotoID) async throws -> RemotePhoto {
        try await plugin.call(.photo, ["photo": .string(id.text)], account) {
            [account, plugin] reader throws(PluginFault) in
            let photo = try RemotePhoto(reader, account.hosts)
            guard photo.photo.id == id else { throw PluginFault("the result is another photo") }
            return plugin.shown(photo)
        }
    }

    func countDownload(_ photo: RemotePhoto) async throws {
        guard offers(.download) else { return }
        try await plugin.call(
            .countDownload,
            ["photo": .string(photo.photo.id.text), "note": .string(photo.note)], account
        ) { _ throws(PluginFault) in }
    }

    // MARK: RemoteImages

    func imageAddress(_ photo: RemotePhoto, _ size: ImageSize) async throws -> String? {
        let parameters: [String: JSON] = [
            "photo": .string(photo.photo.id.text), "size": .string(size.rawValue),
            "note": .string(photo.note),
        ]
        return try await plugin.call(.image, parameters, account) {
            [account] reader throws(PluginFault) in
            try reader.expectObject()
            guard let text = try reader.text("url") else { return nil }
            guard let address = WebAddress(text) else {
                throw PluginFault("image.url is not an absolute address")
            }
            guard account.hosts.permits(address) else {
                throw PluginFault("the host of image.url is not in Hosts of the manifest")
            }
            return text
        }
    }

    var imageClient: any HTTPClient { account }

    // MARK: RemoteLikes

    var likesSource: SourceID { SourceID("likes") }

    func likeGroupPrefix(_ photo: PhotoID) -> String? {
        guard let end = plugin.manifest.likeGroupEnd, let index = photo.text.firstIndex(of: end)
        else { return nil }
        return String(photo.text[...index])
    }

    /// Likes or unlikes a photo.
    ///
    /// Errors that have no special meaning for likes are converted to ``ProviderError/refused(_:)``.
    func setLiked(_ photo: PhotoID, _ isLiked: Bool) async throws -> Int? {
        do {
            return try await plugin.call(
                .setLiked, ["photo": .string(photo.text), "liked": .bool(isLiked)], account
            ) { reader throws(PluginFault) in
                try reader.expectObject()
                return try reader.count("likes")
            }
        } catch ProviderError.invalidArgument(let text) {
            throw ProviderError.refused(Message(verbatim: text))
        } catch ProviderError.notSupported(let message), ProviderError.noSuchUser(let message) {
            throw ProviderError.refused(message)
        } catch ProviderError.staleCursor {
            throw ProviderError.refused(
                Message(
                    "{provider} does not accept the like.", ["provider": plugin.manifest.info.name])
            )
        }
    }
}
