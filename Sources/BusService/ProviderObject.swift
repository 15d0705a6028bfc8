internal import BusAPI
internal import DBus
internal import Engine
internal import ProviderKit

/// `org.imagefeed.ImageFeed1.Provider`.
final class ProviderObject {
    private let info: ProviderInfo

    init(_ provider: any Provider) { info = provider.info }

    static let interface = BusInterface<ProviderObject>(
        .provider,
        [
            .method("Configure", in: ["settings"]) {
                (provider: ProviderObject, _: [String: Variant]) in
                throw EngineError.notSupported("\(provider.info.name) has nothing to configure.")
            },
            .property("Id", emits: .constant) { $0.info.id },
            .property("Name", emits: .constant) { $0.info.name },
            .property("IconName", emits: .constant) { $0.info.iconName },
            .property("Authentication", emits: .constant) { $0.info.authentication.rawValue },
            .property("Capabilities", emits: .constant) { $0.info.capabilities.map(\.rawValue) },
            // What needs no settings is configured.
            .property("Configured") { _ in true },
            .property("RedirectUri", emits: .constant) { _ in "" },
        ])
}
