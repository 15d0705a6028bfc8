internal import Contract
internal import DBus
internal import EngineCore
internal import ProviderKit

extension Login {
    /// Returns `org.imagefeed.ImageFeed1.Login` for the clients on the bus of a connection.
    static func interface(_ connection: BusConnection) -> BusInterface<Login> {
        BusInterface<Login>(
            versioned: .login,
            [
                .asyncMethod(.openBrowser) { try await $0.openBrowser() },
                .method(.submitCode, in: ["code"]) { try $0.submit($1) },
                .asyncCallerMethod(.wait, out: ["account"]) {
                    (login: Login, caller) -> ObjectPath in
                    try await login.wait {
                        guard let caller else { return false }
                        return (try? await connection.owner(of: caller)) == nil
                    }.path
                },
                .method(.cancel) { $0.cancel() },
                .property(.state) { $0.state.rawValue },
                .property(.provider, isConstant: true) { $0.provider.info.path },
                .property(.authorizationUrl) { $0.authorizationURL },
                .property(.account) { $0.account?.path ?? .root },
                .property(.error) { ErrorTable.property($0.error) },
            ])
    }
}
