internal import BusAPI
internal import DBus
internal import Engine
internal import ProviderKit

/// `org.imagefeed.ImageFeed1.Provider`.
final class ProviderObject {
    private let provider: any Provider
    private let engine: Engine
    private var info: ProviderInfo { provider.info }
    /// nil for one that comes with the program.
    private var condition: ProviderCondition? { (provider as? any InstalledProvider)?.condition }

    init(_ provider: any Provider, _ engine: Engine) {
        self.provider = provider
        self.engine = engine
    }

    static let interface = BusInterface<ProviderObject>(
        .provider,
        [
            .asyncMethod("Configure", in: ["settings"]) {
                (object: ProviderObject, settings: [String: Variant]) in
                try await object.configure(settings)
            },
            .property("Id", emits: .constant) { $0.info.id },
            .property("Name", emits: .constant) { $0.info.name },
            .property("IconName", emits: .constant) { $0.info.iconName },
            .property("Authentication", emits: .constant) { $0.info.authentication.rawValue },
            .property("Capabilities", emits: .constant) { $0.info.capabilities.map(\.rawValue) },
            .property("Configured") { $0.engine.isConfigured($0.provider) },
            .property("State") { $0.condition?.state.rawValue ?? "ready" },
            .property("StateReason") { $0.condition?.reason ?? "" },
            .property("Sandbox") { $0.condition?.confinement ?? "" },
            .property("RedirectUri") { $0.engine.redirectAddress(of: $0.provider) },
        ])

    /// Unknown settings are left to later versions.
    private func configure(_ settings: [String: Variant]) async throws {
        var id: String?
        if let variant = settings[ProviderSetting.clientID.rawValue] {
            guard let text = variant.string else { throw Self.wrongType(.clientID, "s") }
            id = text
        }
        var secret: Secret?
        if let variant = settings[ProviderSetting.clientSecret.rawValue] {
            guard let descriptor = variant.fileDescriptor else {
                throw Self.wrongType(.clientSecret, "h")
            }
            secret = try await SecretReader.read(descriptor)
        }
        try await engine.configure(provider, clientID: id, clientSecret: secret)
    }

    private static func wrongType(_ setting: ProviderSetting, _ type: String) -> EngineError {
        .invalidArgument("The setting \"\(setting.rawValue)\" is of type \(type).")
    }
}
