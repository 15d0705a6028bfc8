internal import Contract
internal import DBus
internal import JSONFormat
internal import Translation

/// The list of all providers and their states.
struct ProviderList: Renderable {
    let providers: [ProviderProperties]

    var json: JSON {
        .array(providers.map { JSON($0.properties, of: .provider) })
    }

    func text(for target: OutputTarget) -> String {
        // On a terminal, the column is omitted if no provider is a plugin.
        let showsSandbox = target == .pipe || providers.contains { !$0.sandbox.isEmpty }
        let table = Table(
            columns: [
                .init(title: tr("PROVIDER")),
                .init(title: tr("NAME"), minimumWidth: 8, dropRank: 2),
                .init(title: tr("LOGIN"), dropRank: 1),
                .init(title: tr("STATE")),
            ] + (showsSandbox ? [.init(title: tr("SANDBOX"), dropRank: 4)] : []) + [
                .init(title: tr("OFFERS"), minimumWidth: 12, dropRank: 3)
            ] + (target == .pipe ? [.init(title: tr("REASON"))] : []),
            rows: providers.map { provider in
                [
                    Cell(provider.id), Cell(provider.name),
                    Cell(target.word(provider.authentication)),
                    Self.state(of: provider, target),
                ] + (showsSandbox ? [Self.sandbox(of: provider, target)] : []) + [
                    Cell(provider.capabilities.map(target.word).joined(separator: " "), .faint)
                ] + (target == .pipe ? [Cell(provider.stateReason)] : [])
            })
        let reasons = providers.compactMap(\.problem).map { $0 + "\n" }
        guard case .terminal = target, !reasons.isEmpty else { return table.text(for: target) }
        return table.text(for: target) + "\n" + reasons.joined()
    }

    private static func sandbox(of provider: ProviderProperties, _ target: OutputTarget) -> Cell {
        Cell(target.word(provider.sandbox), provider.sandbox == "none" ? .warning : .faint)
    }

    private static func state(of provider: ProviderProperties, _ target: OutputTarget) -> Cell {
        let state = provider.shownState
        let style: TextStyle =
            switch state {
            case "ready": .good
            case "not configured": .warning
            default: .bad
            }
        return Cell(target.word(state), style)
    }

    /// The hint to configure the providers that need it; nil if there are none.
    var advice: String? {
        let unready = providers.filter { !$0.isConfigured && $0.state == "ready" }
        guard let first = unready.first else { return nil }
        let names = list(unready.map(\.name))
        let argument = unready.count == 1 ? first.id : "PROVIDER"
        return tr(
            "Not configured: {providers}. Run “imagefeedctl configure {argument}”.",
            ["providers": names, "argument": argument])
    }
}
