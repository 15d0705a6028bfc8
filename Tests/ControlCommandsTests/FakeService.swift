import Contract
import DBus
import TestSupport
import Testing

/// A fake daemon with a local account, a logged-out account, and a provider with a browser login.
///
/// A call with a photo whose ID is the name of a service error fails with this error.
@MainActor final class FakeService {
    let connection: BusConnection
    let tree: ObjectTree
    let manager = FakeManager()
    let account = FakeAccount("local_ada", "local")
    private(set) var accountObject: ExportedObject
    /// The combined account. Its photos are those of ``account``.
    let combined = FakeAccount("combined", "")
    private let combinedObject = ExportedObject(ServiceName.combined)
    let slideshow = FakeSlideshow()

    /// - Parameters:
    ///   - connection: The connection to the bus.
    ///   - photo: The photo that the slideshow shows when the service appears on the bus; nil for none.
    /// - Throws: An error of the bus.
    init(_ connection: BusConnection, showing photo: Int? = nil) async throws {
        self.connection = connection
        tree = ObjectTree(connection, root: ServiceName.root) { ErrorReply(.failed, "\($0)") }
        let root = ExportedObject(ServiceName.root)
        root.add(FakeManager.interface, on: manager)
        tree.export(root)
        for provider in [manager.local, manager.unsplash] {
            let object = ExportedObject(ServiceName.providers.appending(provider.id))
            object.add(FakeProvider.interface, on: provider)
            tree.export(object)
        }
        let loggedOut = ExportedObject(ServiceName.accounts.appending("unsplash_bob"))
        let bob = FakeAccount("unsplash_bob", "unsplash")
        loggedOut.add(FakeAccount.interface, on: bob)
        tree.export(loggedOut)
        accountObject = ExportedObject(ServiceName.accounts.appending("local_ada"))
        accountObject.add(FakeAccount.interface, on: account)
        accountObject.add(FakeAccount.feedInterface, on: account)
        accountObject.add(FakeAccount.likeInterface, on: account)
        accountObject.add(FakeAccount.profileInterface, on: account)
        tree.export(accountObject)
        combined.idPrefix = "local_ada/"
        combinedObject.add(FakeAccount.combinedInterface, on: combined)
        combinedObject.add(FakeAccount.feedInterface, on: combined)
        combinedObject.add(FakeAccount.likeInterface, on: combined)
        tree.export(combinedObject)
        tree.export(slideshow.object)
        manager.tree = tree
        account.tree = tree
        if let photo { slideshow.show(photo) }
        tree.start()
        _ = try await connection.requestName(ServiceName.bus, replacing: false, onLost: {})
    }

    /// Removes the combined account, as without a logged-in account.
    func removeCombined() { tree.remove(combinedObject) }

    /// Runs `body` with a fake service on the bus of the test.
    ///
    /// - Parameters:
    ///   - photo: The photo that the slideshow shows when the service appears on the bus; nil for none.
    ///   - body: The body of the test.
    /// - Throws: The error of `body`, or of the bus.
    static func run(
        showing photo: Int? = nil, _ body: @MainActor (FakeService) async throws -> Void
    ) async throws {
        let service = try await FakeService(try PrivateBus.current.connect(), showing: photo)
        try await body(service)
        try await service.connection.releaseName(ServiceName.bus)
        // Until here, the connection may receive a call for the tree.
        withExtendedLifetime(service) {}
    }
}

/// The service of the running test, which must have the trait ``Testing/Trait/fakeService``.
@MainActor var service: FakeService {
    guard let service = FakeServiceTrait.running else {
        preconditionFailure("the test lacks the trait .fakeService")
    }
    return service
}

/// A trait that runs a fake service for each test, on the bus of the trait `.privateBus` before it.
struct FakeServiceTrait: TestTrait, SuiteTrait, TestScoping {
    @TaskLocal fileprivate static var running: FakeService?

    var isRecursive: Bool { true }

    @concurrent
    func provideScope(
        for test: Test, testCase: Test.Case?,
        performing function: @Sendable @concurrent () async throws -> Void
    ) async throws {
        try await FakeService.run { service in
            try await Self.$running.withValue(service) { try await function() }
        }
    }
}

extension Trait where Self == FakeServiceTrait {
    /// A fake service for each test, available as ``service``.
    static var fakeService: FakeServiceTrait { FakeServiceTrait() }
}

@MainActor final class FakeManager {
    var defaultAccount = ServiceName.accounts.appending("local_ada")
    weak var tree: ObjectTree?
    let logins = Observed<[FakeLogin]>([])
    /// The URLs of the next browser logins, in this order; the last one is repeated.
    var loginAddresses = [FakeLogin.address]
    let local = FakeProvider("local", "Pictures")
    let unsplash = FakeProvider("unsplash", "Unsplash")

    static let interface = BusInterface<FakeManager>(
        .manager,
        [
            .method("Login", in: ["provider", "options"], out: ["login"]) {
                (manager, provider: String, options: [String: Variant]) -> ObjectPath in
                guard ["local", "unsplash"].contains(provider) else {
                    throw ErrorReply(ServiceError.notFound.name, "There is no such provider.")
                }
                if provider == "unsplash", !manager.unsplash.isConfigured {
                    throw ErrorReply(ServiceError.notConfigured.name, FakeProvider.help)
                }
                let path = ServiceName.logins.appending("\(manager.logins.value.count + 1)")
                let object = ExportedObject(path)
                let login = FakeLogin(
                    addresses: provider == "local" ? [""] : manager.loginAddresses, options, object)
                if options["username"] == .string("grace"), options["register"] == nil {
                    login.checkPassword("geheim")
                }
                object.add(FakeLogin.interface, on: login)
                manager.tree?.export(object)
                manager.logins.append(login)
                return path
            },
            .property("Version") { _ in "1.2.3" },
            .property(
                "DefaultAccount", { $0.defaultAccount }, set: { $0.defaultAccount = $1 }),
            .property("Online") { _ in true },
        ])
}
