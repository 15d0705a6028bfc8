internal import ArgumentParser
internal import Contract
internal import JSONFormat
internal import Translation

struct AccountsCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "accounts",
        abstract: tr("List all known accounts; * marks the default account."))

    @OptionGroup var output: OutputOptions

    @MainActor func run() async throws {
        let snapshot = try await ServiceClient().snapshot()
        try output.show(AccountList(snapshot: snapshot))
        if snapshot.accounts.isEmpty {
            try snapshot.checkNotices()
            Console.printMessage(StatusScreen(snapshot: snapshot).loginAdvice)
        }
    }
}

/// The list of all known accounts.
struct AccountList: Renderable {
    let snapshot: DaemonMirror
    /// True if the list has a column with the number of pending likes.
    var showsPendingLikes = true

    var json: JSON {
        .array(snapshot.accounts.map(\.json))
    }

    func text(for target: OutputTarget) -> String {
        let shortIDs = target == .pipe ? [:] : snapshot.shortIDs
        let table = Table(
            columns: [
                .init(title: ""),
                .init(title: tr("ACCOUNT")),
                .init(title: tr("LABEL"), minimumWidth: 8, dropRank: 1),
                .init(title: tr("PROVIDER"), minimumWidth: 8, dropRank: 2),
                .init(title: tr("STATE")),
                .init(title: tr("NAME"), minimumWidth: 8, dropRank: 3),
                .init(title: tr("UNSENT"), dropRank: 4, isNumber: true),
            ],
            rows: snapshot.accounts.map { account in
                [
                    Cell(account.path == snapshot.defaultAccount ? "*" : "", .heading),
                    Cell(shortIDs[account.id] ?? account.id), Cell(account.label),
                    Cell(snapshot.providerName(of: account)),
                    Cell(
                        target.word(account.stateText), account.stateStyle),
                    // On a terminal, a name that equals the label is omitted.
                    Cell(target == .pipe || account.name != account.label ? account.name : ""),
                    Cell(
                        showsPendingLikes && !account.pendingLikes.isEmpty
                            ? String(account.pendingLikes.count) : ""),
                ]
            })
        return table.text(for: target)
    }
}
