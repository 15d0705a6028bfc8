internal import Accounts
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
            .asyncMethod(.openBrowser) { try await $0.openBrowser() },
            .method(.submitCode, in: ["code"]) { (object: LoginObject, code: String) in
                try object.login.submit(code)
            },
            .asyncMethod(.wait, out: ["account"]) { (object) -> ObjectPath in
                try await object.login.wait().path
            },
            .method(.cancel) { $0.login.cancel() },
            .property(.state) { $0.login.state.rawValue },
            .property(.provider, emits: .constant) { $0.login.provider.info.path },
            .property(.authorizationUrl) { $0.login.authorizationURL },
            .property(.account) { $0.login.account?.path ?? .root },
            .property(.error) { ErrorTable.property($0.login.error) },
        ])

    private func openBrowser() async throws {
        await login.prepared()
        guard !login.authorizationURL.isEmpty else {
            throw EngineError.notSupported(Message(verbatim: "This login does not use a browser."))
        }
        try await openURL(login.authorizationURL)
    }
}
