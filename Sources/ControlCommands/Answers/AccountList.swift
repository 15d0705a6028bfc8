/// Every known account.
struct AccountList: Answer {
    let snapshot: ServiceSnapshot

    var json: JSON {
        .array(snapshot.accounts.map { JSON($0.properties, order: ContractOrder.account) })
    }

    func text(for medium: Medium) -> String {
        let table = Table(
            columns: [
                .init(title: ""),
                .init(title: "ACCOUNT"),
                .init(title: "LABEL", minimum: 8, dropped: 1),
                .init(title: "PROVIDER", minimum: 8, dropped: 2),
                .init(title: "STATE"),
            ],
            rows: snapshot.accounts.map { account in
                [
                    Cell(account.path == snapshot.defaultAccount ? "*" : "", .heading),
                    Cell(account.id), Cell(account.label), Cell(snapshot.providerName(of: account)),
                    Cell(account.state, account.stateInk),
                ]
            })
        return table.text(for: medium)
    }
}

extension AccountRecord {
    var stateInk: Ink {
        switch state {
        case "ready": .good
        case "loading", "logged-out": .faint
        case "needs-login", "failed": .bad
        default: .warning
        }
    }
}
