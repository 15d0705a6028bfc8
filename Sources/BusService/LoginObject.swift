internal import BusAPI
internal import DBus
internal import Engine
internal import ProviderKit

/// `org.imagefeed.ImageFeed1.Login`.
final class LoginObject {
    private let login: Login

    init(_ login: Login) { self.login = login }

    static let interface = BusInterface<LoginObject>(
        .login,
        [
            .method("OpenBrowser") { _ in
                throw EngineError.notSupported("This login needs no browser.")
            },
            .method("SubmitCode", in: ["code"]) { (_: LoginObject, _: String) in
                throw EngineError.notSupported("This login takes no code.")
            },
            .asyncMethod("Wait", out: ["account"]) { (object) -> ObjectPath in
                try await object.login.wait().path
            },
            .asyncMethod("Cancel") { await $0.login.cancel() },
            .property("State") { $0.login.state.rawValue },
            .property("Provider", emits: .constant) { $0.login.provider.info.path },
            .property("AuthorizationUrl") { _ in "" },
            .property("Account") { $0.login.account?.path ?? .root },
            .property("Error") { $0.error },
        ])

    /// Name and message; both empty unless the login has failed.
    private var error: BusStruct<String, String> {
        guard let reply = login.error.map(ErrorTable.reply) else { return BusStruct("", "") }
        return BusStruct(reply.name.text, reply.message)
    }
}
