import FoundationEssentials
import ImageMetadata
import ProviderKit
import Storage
import TestSupport
import Testing
import Translation

@testable import LocalProvider

@Suite(.timeLimit(.minutes(10))) struct AvatarTests {
    private let directory: TemporaryDirectory
    private let images = ScriptedImageProcessor()
    private let provider: LocalProvider

    init() throws {
        directory = try TemporaryDirectory()
        provider = PhotosFixture.provider(directory, images: images)
    }

    private func logIn(_ name: String) async throws -> AccountIdentity {
        try await provider.logIn(username: name, password: nil, registers: true)
    }

    /// Sets the avatar of a user, and returns its path.
    private func setAvatar(of account: AccountIdentity, _ photo: String) async throws -> String {
        let session = try PhotosFixture.session(account.username, of: provider)
        defer { session.close() }
        try await session.setAvatar(photo)
        return try await provider.profile(of: account).avatar
    }

    private func content(_ path: String) throws -> String {
        String(decoding: try Data(contentsOf: URL(filePath: path)), as: UTF8.self)
    }

    private var files: [String] {
        (try? FileManager.default.contentsOfDirectory(
            atPath: directory.appending("data/avatars"))) ?? []
    }

    @Test(arguments: ["ada", "../x", "Ада", String(repeating: "👩‍👩‍👧‍👦", count: 64)])
    func `a new user has no avatar, and any user can set one`(name: String) async throws {
        let account = try await logIn(name)
        let profile = try await provider.profile(of: account)
        #expect((profile.name, profile.isEditable, profile.avatar) == (name, true, ""))
        #expect(files.isEmpty)
        let avatar = try await setAvatar(of: account, "/p/1")
        #expect(try content(avatar) == "square of /p/1")
        #expect(avatar.hasPrefix(directory.appending("data/avatars/")))
        #expect(files.map { $0.utf8.count < 64 } == [true])
    }

    @Test func `each new avatar gets a new file, and the old file is deleted`() async throws {
        let ada = try await logIn("ada")
        let bob = try await setAvatar(of: try await logIn("bob"), "/p/3")
        let session = try PhotosFixture.session("ada", of: provider)
        var paths: Set<String> = [bob]
        for photo in ["/p/1", "/p/2"] {
            try await session.setAvatar(photo)
            let avatar = try await provider.profile(of: ada).avatar
            #expect(try content(avatar) == "square of \(photo)")
            paths.insert(avatar)
            #expect(files.count == 2)
        }
        #expect(paths.count == 3)
        session.close()
        // Avatars survive a restart, and do not depend on logged-in users.
        let next = PhotosFixture.provider(directory, images: images)
        #expect(try content(try await next.profile(of: ada).avatar) == "square of /p/2")
        #expect(try await next.profile(of: AccountIdentity(username: "bob")).avatar == bob)
        try await next.removeUser(ada)
        #expect(files.count == 1)
        #expect(try await next.profile(of: ada).avatar.isEmpty)
    }

    @Test(arguments: [12, Int.max])
    func `the newer file is the avatar unless its number is too large`(number: Int) async throws {
        let ada = try await logIn("ada")
        let first = try await setAvatar(of: ada, "/p/1")
        let other = first.replacing("-1.png", with: "-\(number).png")
        try FileManager.default.copyItem(atPath: first, toPath: other)
        let next = PhotosFixture.provider(directory, images: images)
        #expect(try await next.profile(of: ada).avatar == (number == 12 ? other : first))
        let session = try PhotosFixture.session("ada", of: next)
        defer { session.close() }
        try await session.setAvatar("/p/2")
        #expect(try content(try await next.profile(of: ada).avatar) == "square of /p/2")
        #expect(files.count == 1)
    }

    @Test func `the avatar of a restored backup is shown, and deleted with the user`() async throws
    {
        let ada = try await logIn("ada")
        let old = try await setAvatar(of: ada, "/p/1")
        let (data, backup) = (directory.appending("data/avatars"), directory.appending("backup"))
        try FileManager.default.copyItem(atPath: data, toPath: backup)
        _ = try await setAvatar(of: ada, "/p/2")
        try FileManager.default.removeItem(atPath: data)
        try FileManager.default.moveItem(atPath: backup, toPath: data)
        #expect(try await provider.profile(of: ada).avatar == old)
        try await provider.removeUser(ada)
        #expect(files.isEmpty)
        let next = try await logIn("ada")
        #expect(try await provider.profile(of: next).avatar.isEmpty)
    }

    @Test func `an avatar that cannot be made leaves no file`() async throws {
        images.error.update { $0 = .notSupported(Message(verbatim: "There is no library.")) }
        let ada = try await logIn("ada")
        #expect(try await provider.profile(of: ada).avatar.isEmpty)
        let session = try PhotosFixture.session("ada", of: provider)
        await #expect(throws: ProviderError.notSupported("There is no library.")) {
            try await session.setAvatar("/p/1")
        }
        session.close()
        #expect(files.isEmpty)
        #expect(try await provider.profile(of: ada).avatar.isEmpty)
    }
}
