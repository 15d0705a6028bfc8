internal import Contract
internal import JSONFormat

/// The list of all providers and their states.
struct ProviderList: Renderable {
    let providers: [ProviderProperties]

    var json: JSON {
        .array(providers.map { JSON($0.properties, order: PropertyOrder.provider) })
    }

    func text(for target: OutputTarget) -> String {
        // On a terminal, the column is omitted if no provider is a plugin.
        let showsSandbox = target == .pipe || providers.contains { !$0.sandbox.isEmpty }
        let table = Table(
            columns: [
                .init(title: "PROVIDER"),
                .init(title: "NAME", minimumWidth: 8, dropRank: 2),
                .init(title: "LOGIN", dropRank: 1),
                .init(title: "STATE"),
            ] + (showsSandbox ? [.init(title: "SANDBOX", dropRank: 4)] : []) + [
                .init(title: "OFFERS", minimumWidth: 12, dropRank: 3)
            ] + (target == .pipe ? [.init(title: "REASON")] : []),
            rows: providers.map { provider in
                [
                    Cell(provider.id), Cell(provider.name), Cell(provider.authentication),
                    Self.state(of: provider),
                ] + (showsSandbox ? [Self.sandbox(of: provider)] : []) + [
                    Cell(provider.capabilities.joined(separator: " "), .faint)
                ] + (target == .pipe ? [Cell(provider.stateReason)] : [])
            })
        let reasons = providers.compactMap(\.problem).map { $0 + "\n" }
        guard case .terminal = target, !reasons.isEmpty else { return table.text(for: target) }
        return table.text(for: target) + "\n" + reasons.joined()
    }

    private static func sandbox(of provider: ProviderProperties) -> Cell {
        Cell(provider.sandbox, provider.sandbox == "none" ? .warning : .faint)
    }

    private static func state(of provider: ProviderProperties) -> Cell {
        switch provider.shownState {
        case "ready": Cell("ready", .good)
        case "not configured": Cell("not configured", .warning)
        case let state: Cell(state, .bad)
        }
    }

    /// The hint to configure the providers that need it; nil if there are none.
    var advice: String? {
        let unready = providers.filter { !$0.isConfigured && $0.state == "ready" }
        guard let first = unready.first else { return nil }
        let names = unready.map(\.name).joined(separator: ", ")
        let argument = unready.count == 1 ? first.id : "PROVIDER"
        return "Not configured: \(names). Run “imagefeedctl configure \(argument)”."
    }
}
