internal import Contract
internal import DBus
internal import EngineCore
internal import ProviderKit

extension Login {
    /// `org.imagefeed.ImageFeed1.Login`.
    static let interface = BusInterface<Login>(
        versioned: .login,
        [
            .asyncMethod(.openBrowser) { try await $0.openBrowser() },
            .method(.submitCode, in: ["code"]) { (login: Login, code: String) in
                try login.submit(code)
            },
            .asyncMethod(.wait, out: ["account"]) { (login) -> ObjectPath in
                try await login.wait().path
            },
            .method(.cancel) { $0.cancel() },
            .property(.state) { $0.state.rawValue },
            .property(.provider, emits: .constant) { $0.provider.info.path },
            .property(.authorizationUrl) { $0.authorizationURL },
            .property(.account) { $0.account?.path ?? .root },
            .property(.error) { ErrorTable.property($0.error) },
        ])
}
