/// Every known account.
struct AccountList: Renderable {
    let snapshot: ServiceSnapshot
    /// Whether to count the likes that wait to be sent.
    var countsUnsent = true

    var json: JSON {
        .array(snapshot.accounts.map(\.json))
    }

    func text(for medium: OutputTarget) -> String {
        let table = Table(
            columns: [
                .init(title: ""),
                .init(title: "ACCOUNT"),
                .init(title: "LABEL", minimum: 8, dropped: 1),
                .init(title: "PROVIDER", minimum: 8, dropped: 2),
                .init(title: "STATE"),
                .init(title: "NAME", minimum: 8, dropped: 3),
                .init(title: "UNSENT", dropped: 4, isNumber: true),
            ],
            rows: snapshot.accounts.map { account in
                [
                    Cell(account.path == snapshot.defaultAccount ? "*" : "", .heading),
                    Cell(account.id), Cell(account.label), Cell(snapshot.providerName(of: account)),
                    Cell(account.state, account.stateInk),
                    // Twice the same word tells a person nothing.
                    Cell(medium == .pipe || account.name != account.label ? account.name : ""),
                    Cell(unsent(account)),
                ]
            })
        return table.text(for: medium)
    }

    private func unsent(_ account: AccountRecord) -> String {
        let count = account.pendingLikes?.count ?? 0
        return count == 0 || !countsUnsent ? "" : String(count)
    }
}

extension AccountRecord {
    var stateInk: TextStyle {
        switch state {
        case "ready": .good
        case "loading", "logged-out": .faint
        case "needs-login", "failed": .bad
        default: .warning
        }
    }
}
