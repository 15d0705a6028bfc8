internal import Contract
internal import Engine
internal import ProviderKit
internal import Translation

extension AccountState {
    /// The name of the state on the bus.
    var name: AccountStateName {
        switch self {
        case .ready: .ready
        case .loading: .loading
        case .offline: .offline
        case .rateLimited: .rateLimited
        case .locked: .locked
        case .needsLogin: .needsLogin
        case .failed: .failed
        case .loggedOut: .loggedOut
        }
    }

    /// The reason of the state in one sentence in the language of the user; empty if there is none.
    var reason: String {
        switch self {
        case .ready: ""
        case .loading(let reason), .offline(let reason), .locked(let reason, _),
            .needsLogin(let reason), .failed(let reason, _):
            reason.translated
        case .rateLimited(let until):
            if let time = until.localText("%H:%M") {
                tr("The service limits requests until {time}.", ["time": time])
            } else {
                tr("The service limits requests until later.")
            }
        case .loggedOut: tr("Logged out.")
        }
    }
}
