import Contract
import DBus
import Foundation
import TestSupport

/// A fake provider. The provider `local` has no settings.
@MainActor final class FakeProvider {
    nonisolated static let redirect = "http://127.0.0.1:43117/callback"
    nonisolated static let help =
        "Unsplash needs a client id: register an application at https://unsplash.example/apps"

    let id: String
    let name: String
    var isConfigured = true
    /// True if users have names and can register.
    var hasNames = true
    var state = "ready"
    var stateReason = ""
    /// The settings of each call of `Configure`, with the secret read from its descriptor. Calls without settings are
    /// omitted.
    let settings = Observed<[[String: String]]>([])

    init(_ id: String, _ name: String) {
        self.id = id
        self.name = name
    }

    private func configure(_ settings: [String: Variant]) throws {
        guard id != "local" else {
            throw ErrorReply(ServiceError.notSupported.name, "There are no settings.")
        }
        guard settings["client_id"]?.string != "locked" else {
            throw ErrorReply(ServiceError.secretStoreLocked.name, "The keyring is locked")
        }
        guard !settings.isEmpty else { return }
        self.settings.append(
            settings.mapValues { value in
                guard let descriptor = value.fileDescriptor else { return value.string ?? "?" }
                let file = FileHandle(fileDescriptor: descriptor.rawValue, closeOnDealloc: false)
                return String(decoding: file.readDataToEndOfFile(), as: UTF8.self)
            })
        isConfigured = isConfigured || settings.count == 2
    }

    static let interface = BusInterface<FakeProvider>(
        .provider,
        [
            .method("Configure", in: ["settings"]) {
                (provider, settings: [String: Variant]) in try provider.configure(settings)
            },
            .property("Id") { $0.id },
            .property("Name") { $0.name },
            .property("IconName") { _ in "image" },
            .property("Authentication") { $0.id == "local" ? "password" : "oauth2" },
            .property("Capabilities") {
                ["feed", "like"] + ($0.id == "local" ? ["avatar"] : [])
                    + ($0.id == "local" && $0.hasNames ? ["register"] : [])
            },
            .property("State") {
                $0.state == "ready" && !$0.isConfigured ? "not-configured" : $0.state
            },
            .property("StateReason") { $0.stateReason },
            .property("Configured") { $0.isConfigured },
            .property("Help") { $0.id == "local" ? "" : "\(FakeProvider.help)." },
            .property("RedirectUri") { $0.id == "local" ? "" : FakeProvider.redirect },
        ])
}
