internal import BusAPI
internal import DBus
internal import Engine
internal import ProviderKit

/// `org.imagefeed.ImageFeed1.Manager`, on the root.
final class ManagerObject {
    private let engine: Engine
    private let version: String

    init(_ engine: Engine, version: String) {
        self.engine = engine
        self.version = version
    }

    static let interface = BusInterface<ManagerObject>(
        .manager,
        [
            .method("Login", in: ["provider", "options"], out: ["login"]) {
                (manager: ManagerObject, provider: String, options: [String: Variant]) -> ObjectPath
                in
                let login = try manager.engine.logIn(provider, manager.parse(options))
                return login.path
            },
            .property("Version", emits: .constant) { $0.version },
            .property("DefaultAccount", { $0.engine.defaultAccount?.path ?? .root }) {
                try await $0.setDefaultAccount($1)
            },
            .property("Online") { $0.engine.isOnline },
        ])

    private func setDefaultAccount(_ path: ObjectPath) async throws {
        try await engine.setDefaultAccount(path == .root ? nil : account(path))
    }

    private func account(_ path: ObjectPath) throws -> Account {
        guard let account = engine.accounts.first(where: { $0.path == path }) else {
            throw EngineError.notFound("There is no account \(path).")
        }
        return account
    }

    /// Reads the options of a login. Unknown ones are left to later versions.
    private func parse(_ options: [String: Variant]) throws -> LoginOptions {
        func option<Value>(
            _ name: LoginOption, _ type: String, _ read: (Variant) -> Value?
        ) throws -> Value? {
            guard let variant = options[name.rawValue] else { return nil }
            guard let value = read(variant) else {
                throw EngineError.invalidArgument(
                    "The option \"\(name.rawValue)\" is of type \(type).")
            }
            return value
        }
        var parsed = LoginOptions()
        parsed.account = try option(.account, "o", \.objectPath).map(account)
        parsed.username = try option(.username, "s", \.string)
        if let descriptor = try option(.password, "h", \.fileDescriptor) {
            parsed.password = { try await SecretReader.read(descriptor) }
        }
        parsed.registers = try option(.register, "b", \.bool) ?? false
        parsed.server = try option(.server, "s", \.string)
        parsed.isManual = try option(.manual, "b", \.bool) ?? false
        return parsed
    }
}
