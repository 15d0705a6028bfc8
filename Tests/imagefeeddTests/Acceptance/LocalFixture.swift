import Contract
import DBus
import TestSupport
import Testing

/// The daemon with local photos, which all local users share.
@MainActor
final class LocalFixture: ProviderFixture {
    let provider = "local"
    let client: TestClient
    var daemon: RunningDaemon
    /// The names of the pictures without their extensions, the newest first.
    private var names: [String]
    private var registered: Set<String> = []
    private var publications = 0

    init() async throws {
        names = (1...40).map { "Photo \($0)" }
        try Pictures.add(names)
        daemon = try await RunningDaemon(Self.arguments)
        client = try TestClient()
    }

    func accountID(_ user: String) -> String { "local_\(user)" }

    @discardableResult
    func logIn(_ user: String) async throws -> AccountClient {
        let isNew = registered.insert(user).inserted
        let account = try await client.logIn(user, registers: isNew)
        try await wait(account, "ready")
        return account
    }

    private var defaultAccount: AccountClient {
        get async throws {
            let manager = try await client.service.properties()
            return client.service.account(try #require(manager["DefaultAccount"]?.objectPath))
        }
    }

    /// Returns the IDs by title, because the daemon assigns the IDs.
    private func idsByName() async throws -> [String: String] {
        let account = try await defaultAccount
        var ids: [String: String] = [:]
        var cursor = ""
        repeat {
            let (photos, next) = try await account.page("all", cursor: cursor, count: 100)
            for photo in photos {
                ids[try #require(photo["title"]?.string)] = photo["id"]?.string
            }
            cursor = next
        } while !cursor.isEmpty
        return ids
    }

    var feed: [String] {
        get async throws {
            let ids = try await idsByName()
            return try names.map { try #require(ids[$0]) }
        }
    }

    /// Adds a photo. The refresh avoids waiting for the folder watcher.
    func publish() async throws -> String {
        publications += 1
        let name = "New \(publications)"
        try Pictures.add("\(name).png", age: -Double(publications))
        names.insert(name, at: 0)
        try await refresh()
        return try #require(try await idsByName()[name])
    }

    func delete(_ photo: String) async throws {
        let name = try #require(try await idsByName().first { $0.value == photo }).key
        try Pictures.remove("\(name).png")
        names.removeAll { $0 == name }
        try await refresh()
    }

    private func refresh() async throws {
        _ = try await defaultAccount.refresh("")
    }

    /// Returns the photos that the daemon shows as liked; it is the only source of this state.
    func likes(of user: String) async throws -> Set<String> {
        let photos = try await account(of: user).page("", cursor: "", count: 100).photos
        return Set(photos.filter { $0["liked"] == .bool(true) }.compactMap { $0["id"]?.string })
    }

    let imageBeginning = Array(Pictures.png.prefix(4))
}
