internal import ArgumentParser
internal import Contract
internal import JSONFormat
internal import Translation

struct ProvidersCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "providers", abstract: tr("List the providers and their states."))

    @OptionGroup var output: OutputOptions

    @MainActor func run() async throws {
        let list = ProviderList(providers: try await ServiceClient().snapshot().providers)
        try output.show(list)
        if !output.json, OutputTarget.standardOutput != .pipe, let advice = list.advice {
            Console.printMessage(advice)
        }
    }
}

/// The list of all providers and their states.
struct ProviderList: Renderable {
    let providers: [ProviderProperties]

    var json: JSON { .array(providers.map { JSON($0.properties, of: .provider) }) }

    func text(for target: OutputTarget) -> String {
        let table = Table(
            providers,
            columns: [
                .init(title: tr("PROVIDER")) { Cell($0.id) },
                .init(title: tr("NAME"), minimumWidth: 8, dropRank: 2) { Cell($0.name) },
                .init(title: tr("LOGIN"), dropRank: 1) { Cell(target.word($0.authentication)) },
                .init(title: tr("STATE")) { Self.state(of: $0, target) },
                .init(title: tr("SANDBOX"), dropRank: 4) {
                    Cell(target.word($0.sandbox), $0.sandbox == "none" ? .warning : .faint)
                },
                .init(title: tr("OFFERS"), minimumWidth: 12, dropRank: 3) {
                    Cell($0.capabilities.map(target.word).joined(separator: " "), .faint)
                },
                // On a terminal, the reasons are sentences below the table.
                .init(title: tr("REASON"), dropRank: 5) {
                    Cell(target == .pipe ? $0.stateReason : "")
                },
            ])
        let reasons = providers.compactMap(\.problem).map { $0 + "\n" }
        guard case .terminal = target, !reasons.isEmpty else { return table.text(for: target) }
        return table.text(for: target) + "\n" + reasons.joined()
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
        let unready = providers.filter { $0.state == "not-configured" }
        guard let first = unready.first else { return nil }
        let names = list(unready.map(\.name))
        let argument = unready.count == 1 ? first.id : "PROVIDER"
        return tr(
            "Not configured: {providers}. Run “imagefeedctl configure {argument}”.",
            ["providers": names, "argument": argument])
    }
}
