internal import ArgumentParser
internal import Contract
internal import JSONFormat
internal import ProviderKit
internal import Translation

struct SourcesCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "sources",
        abstract: tr("List the sources of an account; * marks the default source."))

    @OptionGroup var accountOption: CombinedAccountOption
    @OptionGroup var output: OutputOptions

    @MainActor func run() async throws {
        let (client, account, _) = try await ServiceClient().feed(
            accountOption.account, isCombined: accountOption.combined)
        let sources = try await addingHints(for: account) { try await client.sources() }
        try output.show(SourceList(sources: sources, defaultSource: account.defaultSource))
    }
}

/// The list of an account's sources.
struct SourceList: Renderable {
    let sources: [Source]
    let defaultSource: String

    var json: JSON { .array(sources.map(Self.json)) }

    func text(for target: OutputTarget) -> String {
        Table(
            sources,
            columns: [
                .init(title: "") { Cell($0.id.text == defaultSource ? "*" : "", .heading) },
                .init(title: tr("SOURCE")) { Cell($0.id.text) },
                .init(title: tr("KIND"), dropRank: 2) {
                    Cell(target.word($0.kind.rawValue), .faint)
                },
                .init(title: tr("PHOTOS"), dropRank: 1, isNumber: true) {
                    Cell($0.count.map(String.init) ?? "")
                },
                .init(title: tr("TITLE"), minimumWidth: 8, dropRank: 3) {
                    Cell($0.title.translated)
                },
            ]
        ).text(for: target)
    }

    private static func json(_ source: Source) -> JSON {
        [
            "id": JSON(source.id.text), "title": JSON(source.title.translated),
            "kind": JSON(source.kind.rawValue), "count": JSON(source.count),
            "cover": JSON(source.cover?.text),
        ]
    }
}
