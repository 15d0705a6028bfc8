internal import Contract
internal import DBus
internal import EngineCore
internal import EngineModel
internal import ProviderKit

/// `org.imagefeed.ImageFeed1.Manager` of the root object.
final class ManagerObject {
    private let engine: Engine
    private let secrets: SecretReader
    private let findProviders: @MainActor () async -> Void
    /// The limit of logins, which exceeds the number that a user or a script starts over one connection.
    private var loginRate = CallRate(burst: 128, interval: .milliseconds(500))

    /// - Parameters:
    ///   - engine: The engine.
    ///   - secrets: Reads passwords.
    ///   - findProviders: Adds the providers that were just installed to the engine.
    init(
        _ engine: Engine, _ secrets: SecretReader,
        _ findProviders: @escaping @MainActor () async -> Void
    ) {
        self.engine = engine
        self.secrets = secrets
        self.findProviders = findProviders
    }

    static let interface = BusInterface<ManagerObject>(
        versioned: .manager,
        [
            .asyncCallerMethod(.login, in: ["provider", "options"], out: ["login"]) {
                try await $0.logIn($1, $2, $3)
            },
            .asyncMethod(.openSlideshow, in: ["name"], out: ["slideshow"]) {
                try await $0.engine.slideshows.open($1).path
            },
            .property(.version, isConstant: true) { _ in buildVersion },
            .property(.defaultAccount, { $0.engine.accounts.defaultAccount?.path ?? .root }) {
                try await $0.setDefaultAccount($1)
            },
            .property(.online) { $0.engine.isOnline },
            .property(.notices) { $0.engine.notices },
        ])

    private func logIn(
        _ caller: BusName?, _ provider: String, _ options: CallOptions<LoginOption>
    ) async throws -> ObjectPath {
        guard loginRate.allows(caller) else {
            throw ErrorReply(
                .limitsExceeded, "This client starts too many logins; try again in a minute.")
        }
        if engine.provider(provider) == nil { await findProviders() }
        let options = try parse(options, caller)
        try await engine.logins.checkClientSecret(of: provider)
        return try engine.logins.start(provider, options).path
    }

    private func setDefaultAccount(_ path: ObjectPath) async throws {
        try await engine.accounts.setDefaultAccount(path == .root ? nil : engine.account(at: path))
    }

    /// Reads the options of a login. Unknown options are ignored.
    private func parse(
        _ options: CallOptions<LoginOption>, _ caller: BusName?
    ) throws -> LoginOptions {
        var parsed = LoginOptions()
        parsed.client = caller?.text ?? ""
        parsed.account = try options.value(.account, "o", \.objectPath).map(engine.account(at:))
        parsed.username = try options.value(.username, "s", \.string)
        parsed.registers = try options.value(.register, "b", \.bool) ?? false
        parsed.server = try options.value(.server, "s", \.string)
        parsed.isManual = try options.value(.manual, "b", \.bool) ?? false
        // The password is last, because reading the client's descriptor starts here.
        if let descriptor = try options.value(.password, "h", \.fileDescriptor) {
            let reading = try secrets.begin(descriptor, for: caller)
            parsed.password = { try await reading.secret() }
        }
        return parsed
    }
}
