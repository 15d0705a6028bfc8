/// What can be logged in to, and what still needs configuring.
struct ProviderList: Answer {
    let providers: [ProviderRecord]

    var json: JSON {
        .array(providers.map { JSON($0.properties, order: ContractOrder.provider) })
    }

    func text(for medium: Medium) -> String {
        let table = Table(
            columns: [
                .init(title: "PROVIDER"),
                .init(title: "NAME", minimum: 8, dropped: 2),
                .init(title: "LOGIN", dropped: 1),
                .init(title: "STATE"),
                .init(title: "OFFERS", minimum: 12, dropped: 3),
            ],
            rows: providers.map { provider in
                [
                    Cell(provider.id), Cell(provider.name), Cell(provider.authentication),
                    provider.isConfigured
                        ? Cell("ready", .good) : Cell("not configured", .warning),
                    Cell(provider.capabilities.joined(separator: " "), .faint),
                ]
            })
        return table.text(for: medium)
    }

    /// What to type before one can log in to all of them; nil if nothing is to be done.
    var advice: String? {
        let unready = providers.filter { !$0.isConfigured }
        guard let first = unready.first else { return nil }
        let names = unready.map(\.name).joined(separator: ", ")
        let argument = unready.count == 1 ? first.id : "PROVIDER"
        return "Not configured: \(names). Run “imagefeedctl configure \(argument)”."
    }
}
