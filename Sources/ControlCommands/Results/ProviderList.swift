/// What can be logged in to, and what still needs configuring.
struct ProviderList: Renderable {
    let providers: [ProviderRecord]

    var json: JSON {
        .array(providers.map { JSON($0.properties, order: PropertyOrder.provider) })
    }

    func text(for medium: OutputTarget) -> String {
        // Who has no plugins is not told of what keeps them.
        let showsSandbox = medium == .pipe || providers.contains { !$0.sandbox.isEmpty }
        let table = Table(
            columns: [
                .init(title: "PROVIDER"),
                .init(title: "NAME", minimum: 8, dropped: 2),
                .init(title: "LOGIN", dropped: 1),
                .init(title: "STATE"),
            ] + (showsSandbox ? [.init(title: "SANDBOX", dropped: 4)] : []) + [
                .init(title: "OFFERS", minimum: 12, dropped: 3)
            ] + (medium == .pipe ? [.init(title: "REASON")] : []),
            rows: providers.map { provider in
                [
                    Cell(provider.id), Cell(provider.name), Cell(provider.authentication),
                    Self.state(of: provider),
                ] + (showsSandbox ? [Self.sandbox(of: provider)] : []) + [
                    Cell(provider.capabilities.joined(separator: " "), .faint)
                ] + (medium == .pipe ? [Cell(provider.stateReason)] : [])
            })
        let reasons = providers.compactMap(\.problem).map { $0 + "\n" }
        guard case .terminal = medium, !reasons.isEmpty else { return table.text(for: medium) }
        return table.text(for: medium) + "\n" + reasons.joined()
    }

    private static func sandbox(of provider: ProviderRecord) -> Cell {
        Cell(provider.sandbox, provider.sandbox == "none" ? .warning : .faint)
    }

    private static func state(of provider: ProviderRecord) -> Cell {
        switch provider.shownState {
        case "ready": Cell("ready", .good)
        case "not configured": Cell("not configured", .warning)
        case let state: Cell(state, .bad)
        }
    }

    /// What to type before one can log in to all of them; nil if nothing is to be done.
    var advice: String? {
        let unready = providers.filter { !$0.isConfigured && $0.state == "ready" }
        guard let first = unready.first else { return nil }
        let names = unready.map(\.name).joined(separator: ", ")
        let argument = unready.count == 1 ? first.id : "PROVIDER"
        return "Not configured: \(names). Run “imagefeedctl configure \(argument)”."
    }
}
