import FoundationEssentials
import ImageMetadata
import Logging
import ProviderKit
import TestSupport
import Testing
import Translation

@testable import LocalProvider

@Suite(.timeLimit(.minutes(10))) struct AvatarTests {
    private let directory: TemporaryDirectory
    private let images = FakeImageProcessor()
    private let provider: LocalProvider

    init() throws {
        directory = try TemporaryDirectory()
        provider = Self.provider(directory, images)
    }

    private static func provider(
        _ directory: TemporaryDirectory, _ images: FakeImageProcessor
    ) -> LocalProvider {
        LocalProvider(
            pictures: Array(directory.appending("home/Pictures").utf8),
            data: directory.appending("data"),
            cache: directory.appending("cache"), images: images,
            logger: Logger(label: "test") { _ in SwiftLogNoOpLogHandler() }, clock: ManualClock())
    }

    private func logIn(_ name: String, registers: Bool = true) async throws -> AccountIdentity {
        try await provider.logIn(username: name, password: nil, registers: registers)
    }

    /// Waits until a user has an avatar: a login does not wait for it.
    private func avatar(
        of account: AccountIdentity, _ provider: LocalProvider? = nil
    ) async throws -> String {
        var avatar = ""
        try await poll {
            avatar = try await (provider ?? self.provider).profile(of: account).avatar
            return !avatar.isEmpty
        }
        return avatar
    }

    private func content(_ path: String) throws -> String {
        String(decoding: try Data(contentsOf: URL(filePath: path)), as: UTF8.self)
    }

    private var files: [String] {
        (try? FileManager.default.contentsOfDirectory(
            atPath: directory.appending("data/avatars"))) ?? []
    }

    @Test(arguments: ["ada", "../x", "Ада", String(repeating: "👩‍👩‍👧‍👦", count: 64)])
    func `a new user gets an avatar with initials`(name: String) async throws {
        let account = try await logIn(name)
        let avatar = try await avatar(of: account)
        let profile = try await provider.profile(of: account)
        #expect(profile.name == name)
        #expect(profile.isEditable)
        #expect(try content(avatar) == "initials of \(name)")
        #expect(avatar.hasPrefix(directory.appending("data/avatars/")))
        #expect(files.count == 1)
        #expect(files[0].utf8.count < 64)
    }

    @Test func `each new avatar gets a new file, and the old file is deleted`() async throws {
        let ada = try await logIn("ada")
        let bob = try await avatar(of: try await logIn("bob"))
        _ = try await avatar(of: ada)
        let session = try PhotosFixture.session("ada", of: provider)
        var paths: Set<String> = [try await provider.profile(of: ada).avatar]
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
        let next = Self.provider(directory, images)
        #expect(try content(try await next.profile(of: ada).avatar) == "square of /p/2")
        #expect(try await next.profile(of: AccountIdentity(username: "bob")).avatar == bob)
        try await next.removeUser(ada)
        #expect(files.count == 1)
        #expect(try await next.profile(of: ada).avatar.isEmpty)
    }

    @Test func `the newer of two avatar files is valid, and the other one is deleted`() async throws
    {
        let ada = try await logIn("ada")
        let first = try await avatar(of: ada)
        let second = first.replacing("-1.png", with: "-12.png")
        try FileManager.default.copyItem(atPath: first, toPath: second)
        let next = Self.provider(directory, images)
        #expect(try await next.profile(of: ada).avatar == second)
        #expect(files.count == 1)
    }

    @Test func `a login succeeds without an image processor, and a later one draws the avatar`()
        async throws
    {
        images.error.update { $0 = .notSupported(Message(verbatim: "There is no library.")) }
        let ada = try await logIn("ada")
        #expect(try await provider.profile(of: ada).avatar.isEmpty)
        let session = try PhotosFixture.session("ada", of: provider)
        await #expect(throws: ProviderError.notSupported("There is no library.")) {
            try await session.setAvatar("/p/1")
        }
        session.close()
        #expect(files.isEmpty)
        images.error.update { $0 = nil }
        _ = try await logIn("ADA", registers: false)
        let avatar = try await avatar(of: ada)
        #expect(try content(avatar) == "initials of ada")
        // An existing avatar is not drawn again.
        _ = try await logIn("ada", registers: false)
        #expect(try await provider.profile(of: ada).avatar == avatar)
    }

    @Test func `a login does not wait for the avatar, and the session reports it`() async throws {
        images.isHeld.update { $0 = true }
        let ada = try await logIn("ada")
        #expect(try await provider.profile(of: ada).avatar.isEmpty)
        _ = try await logIn("ada", registers: false)
        let session = try PhotosFixture.session("ada", of: provider)
        images.isHeld.update { $0 = false }
        for await event in session.events {
            guard case .profileChanged = event else { continue }
            break
        }
        #expect(try content(try await provider.profile(of: ada).avatar) == "initials of ada")
        session.close()
    }

    @Test func `removing a user before the avatar is drawn leaves no file`() async throws {
        images.isHeld.update { $0 = true }
        let ada = try await logIn("ada")
        async let removal: Void = provider.removeUser(ada)
        images.isHeld.update { $0 = false }
        try await removal
        // The avatar of the next user is drawn after that.
        _ = try await avatar(of: try await logIn("bob"))
        try await poll { files.count == 1 }
        #expect(files.count == 1)
    }
}

/// An image processor that writes a description of each request in place of an image.
private final class FakeImageProcessor: ImageProcessor {
    let error = Observed<ImageProcessorError?>(nil)
    /// True while drawing waits.
    let isHeld = Observed(false)

    func probe(
        _ file: [UInt8], urgency: ImageUrgency
    ) async throws(ImageProcessorError) -> ImageFacts { throw .damaged }

    func make(
        _ image: NewImage, from file: [UInt8]?, to destination: String
    ) async throws(ImageProcessorError) {
        switch image {
        case .scaled: throw .damaged
        case .square:
            try write("square of \(String(decoding: file ?? [], as: UTF8.self))", to: destination)
        case .initials(let name, _):
            _ = try? await isHeld.wait { $0 ? nil : true }
            try write("initials of \(name)", to: destination)
        }
    }

    private func write(_ text: String, to path: String) throws(ImageProcessorError) {
        if let error = error.value { throw error }
        do {
            try Data(text.utf8).write(to: URL(filePath: path))
        } catch {
            throw .failed(Message(verbatim: "\(error)"))
        }
    }
}
