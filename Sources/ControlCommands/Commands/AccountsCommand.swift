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

    var json: JSON { .array(snapshot.accounts.map(\.json)) }

    func text(for target: OutputTarget) -> String {
        let shortIDs = target == .pipe ? [:] : snapshot.shortIDs
        let defaultAccount = snapshot.defaultAccount
        return Table(
            snapshot.accounts,
            columns: [
                .init(title: "") { Cell($0.path == defaultAccount ? "*" : "", .heading) },
                .init(title: tr("ACCOUNT")) { Cell(shortIDs[$0.id] ?? $0.id) },
                .init(title: tr("LABEL"), minimumWidth: 8, dropRank: 1) { Cell($0.label) },
                .init(title: tr("PROVIDER"), minimumWidth: 8, dropRank: 2) {
                    Cell(snapshot.providerName(of: $0))
                },
                .init(title: tr("STATE")) { Cell(target.word($0.stateText), $0.stateStyle) },
                // On a terminal, a name that equals the label is omitted.
                .init(title: tr("NAME"), minimumWidth: 8, dropRank: 3) {
                    Cell(target == .pipe || $0.name != $0.label ? $0.name : "")
                },
                .init(title: tr("UNSENT"), dropRank: 4, isNumber: true) {
                    let count = $0.pendingLikes.count
                    return Cell(showsPendingLikes && count > 0 ? String(count) : "")
                },
            ]
        ).text(for: target)
    }
}
