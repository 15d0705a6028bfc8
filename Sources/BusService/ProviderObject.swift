internal import Contract
internal import DBus
internal import EngineCore
internal import EngineModel
internal import ProviderKit
internal import Translation

/// `org.imagefeed.ImageFeed1.Provider`.
final class ProviderObject {
    private let provider: any Provider
    private let engine: Engine
    private var info: ProviderInfo { provider.info }
    /// The condition of an installed provider; nil for a built-in one.
    private var condition: ProviderCondition? { isBuiltIn ? nil : provider.installed?.condition }
    private let isBuiltIn: Bool

    private let secrets: SecretReader

    /// - Parameters:
    ///   - provider: The provider.
    ///   - isBuiltIn: True if the provider is part of the program.
    ///   - engine: The engine.
    ///   - secrets: Reads client secrets.
    init(_ provider: any Provider, isBuiltIn: Bool, _ engine: Engine, _ secrets: SecretReader) {
        self.isBuiltIn = isBuiltIn
        self.secrets = secrets
        self.provider = provider
        self.engine = engine
    }

    static let interface = BusInterface<ProviderObject>(
        versioned: .provider,
        [
            .asyncCallerMethod(.configure, in: ["settings"]) { try await $0.configure($1, $2) },
            .property(.id, isConstant: true) { $0.info.id },
            .property(.name, isConstant: true) { $0.info.translatedName },
            .property(.iconName, isConstant: true) { $0.info.iconName },
            .property(.authentication, isConstant: true) { $0.info.authentication.rawValue },
            .property(.capabilities, isConstant: true) { $0.info.capabilities.map(\.rawValue) },
            .property(.configured) { $0.engine.isConfigured($0.provider) },
            .property(.state) { object in
                object.condition?.state.rawValue
                    ?? (object.engine.isConfigured(object.provider) ? "ready" : "not-configured")
            },
            .property(.stateReason) { $0.condition?.reason.translated ?? "" },
            .property(.sandbox) { $0.condition?.sandbox ?? "" },
            .property(.help, isConstant: true) { $0.help },
            .property(.redirectUri) { $0.engine.redirectAddress(of: $0.provider) },
        ])

    /// The actions that the user must take before `Configure`, as plain text; empty if there are none.
    private var help: String { provider.loginMethod.oauth?.registrationHelp ?? "" }

    /// Stores settings. Unknown ones are ignored.
    private func configure(
        _ caller: BusName?, _ settings: CallOptions<ProviderSetting>
    ) async throws {
        let id = try settings.value(.clientID, "s", \.string)
        let reading = try settings.value(.clientSecret, "h", \.fileDescriptor).map {
            try secrets.begin($0, for: caller)
        }
        try await engine.configure(
            provider, clientID: id, clientSecret: try await reading?.secret())
    }
}
