internal import Contract
internal import DBus
internal import Engine
internal import ProviderKit
internal import Translation

/// `org.imagefeed.ImageFeed1.Login`.
final class LoginObject {
    private let login: Login

    private let openURL: (String) async throws -> Void

    /// - Parameters:
    ///   - login: The login to export.
    ///   - openURL: Opens an address in the user's browser.
    init(_ login: Login, openURL: @escaping (String) async throws -> Void) {
        self.login = login
        self.openURL = openURL
    }

    static let interface = BusInterface<LoginObject>(
        versioned: .login,
        [
            .asyncMethod("OpenBrowser") { try await $0.openBrowser() },
            .method("SubmitCode", in: ["code"]) { (object: LoginObject, code: String) in
                try object.login.submit(code)
            },
            .asyncMethod("Wait", out: ["account"]) { (object) -> ObjectPath in
                try await object.login.wait().path
            },
            .method("Cancel") { $0.login.cancel() },
            .property("State") { $0.login.state.rawValue },
            .property("Provider", emits: .constant) { $0.login.provider.info.path },
            .property("AuthorizationUrl") { $0.login.authorizationURL },
            .property("Account") { $0.login.account?.path ?? .root },
            .property("Error") { $0.error },
        ])

    private func openBrowser() async throws {
        await login.prepared()
        guard !login.authorizationURL.isEmpty else {
            throw EngineError.notSupported(Message(verbatim: "This login does not use a browser."))
        }
        try await openURL(login.authorizationURL)
    }

    /// The error name and message; both empty unless the login has failed.
    private var error: BusStruct<String, String> {
        guard let reply = login.error.map(ErrorTable.reply) else { return BusStruct("", "") }
        return BusStruct(reply.name.text, reply.message)
    }
}
