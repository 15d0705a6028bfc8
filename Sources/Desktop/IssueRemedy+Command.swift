internal import Engine
internal import ProviderKit

nonisolated extension IssueRemedy {
    /// The command line that performs the action; nil if there is none.
    var command: String? {
        switch (remedy, target) {
        case (.login, .anyAccount): "imagefeedctl login"
        case (.login, .account(let id, let provider)):
            "imagefeedctl login \(provider) --account \(id)"
        case (.login, .provider(let provider, let server)):
            "imagefeedctl login \(provider)" + (server.isEmpty ? "" : " --server \(server)")
        case (.unlock, .account(let id, _)), (.installKeyring, .account(let id, _)),
            (.retry, .account(let id, _)):
            // A refresh accesses the keyring again, which prompts to unlock it.
            "imagefeedctl refresh --account \(id)"
        case (.retry, .like(let photo, let action, let account)):
            "imagefeedctl \(action.rawValue) \(account)/\(photo)"
        default: nil
        }
    }
}
