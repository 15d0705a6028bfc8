internal import Contract
internal import DBus
internal import Dispatch
internal import Glibc
internal import ProviderKit
internal import Translation

/// The completions of a word, with the IDs of a running daemon.
@MainActor
struct CompletionSource {
    let outline: CommandOutline.Command
    let request: CompletionRequest

    /// Returns the completions that begin with the typed part of the word.
    ///
    /// Without a session bus or a running daemon, there are no completions of IDs.
    func result() async -> CompletionResult {
        switch request.expected {
        case .nothing: return .words([])
        case .command:
            return words(
                outline.visibleCommands.map { ($0.commandName, $0.abstract ?? "") })
        case .subcommand(let name):
            let command = outline.visibleCommands.first { $0.commandName == name }
            return words(
                (command?.visibleCommands ?? []).map { ($0.commandName, $0.abstract ?? "") })
        case .option(let value):
            let names = words(options)
            guard names == .words([]), value == "photo" else { return names }
            return await idCandidates("photo")
        case .oneOf(let values): return words(values.map { ($0, "") })
        case .value("path"): return .files
        case .value(let name) where name.hasSuffix("file"): return .files
        case .value(let name): return await idCandidates(name)
        }
    }

    private func idCandidates(_ kind: String) async -> CompletionResult {
        do {
            return words(try await fetchIDs(kind))
        } catch {
            // Without a bus, a daemon or cached data, there are no candidates. A completion prints no errors.
            return .words([])
        }
    }

    private var options: [(String, String)] {
        var command = outline.visibleCommands.first { $0.commandName == request.command } ?? outline
        command = command.visibleCommands.first { $0.commandName == request.subcommand } ?? command
        return command.options.filter { request.usedOptions.isDisjoint(with: $0.spellings) }.flatMap
        {
            option in option.spellings.map { ($0, option.abstract ?? "") }
        }
    }

    /// Returns the pairs of word and summary whose word begins with the typed part.
    private func words(_ all: [(String, String)]) -> CompletionResult {
        .words(
            all.filter { $0.0.hasPrefix(request.prefix) }.compactMap { word, summary in
                CompletionCandidate(request.optionPrefix + word, summary)
            })
    }

    // MARK: IDs of the daemon

    private func fetchIDs(_ kind: String) async throws -> [(String, String)] {
        guard
            [
                "account", "provider", "source", "slideshow-source", "slideshow", "photo",
            ].contains(kind)
        else {
            return []
        }
        let connection = try BusConnection.session()
        // A completion does not start the daemon.
        guard try await connection.owner(of: ServiceName.bus) != nil else { return [] }
        let client = ServiceClient(connection)
        let snapshot = try await client.snapshot()
        switch kind {
        case "account":
            return snapshot.accounts.map { ($0.id, list([$0.label, $0.stateWord])) }
        case "provider":
            return snapshot.providers.map { ($0.id, $0.name) }
        case "source":
            let isCombined = request.usedOptions.contains("--combined")
            return try await sources(
                SlideshowSource(
                    account: isCombined ? nil : request.values["account"] ?? "", source: ""),
                snapshot, client)
        case "slideshow-source":
            guard request.prefix.contains(":"),
                let typed = try? SlideshowSource(request.prefix)
            else {
                return [("combined", tr("All accounts"))]
                    + snapshot.accounts.filter(\.isLoggedIn).map { ($0.id, $0.label) }
            }
            let name = request.prefix.prefix { $0 != ":" }
            return try await sources(typed, snapshot, client).map { ("\(name):\($0.0)", $0.1) }
        case "slideshow":
            return snapshot.slideshows.dropFirst().map { ($0.name, $0.photo?.caption ?? "") }
        case _ where request.subcommand == "unhide":
            return snapshot.slideshow?.hidden.map { ($0, "") } ?? []
        default:
            return try await photos(snapshot, client)
        }
    }

    /// Returns the sources of an account or of the combined account.
    private func sources(
        _ source: SlideshowSource, _ snapshot: DaemonMirror, _ client: ServiceClient
    ) async throws -> [(String, String)] {
        let account = client.account(try source.path(snapshot))
        return try await account.sources().map { ($0.id.text, $0.title) }
    }

    /// Returns the first photos of the typed or default account; without a typed account, also the other accounts.
    private func photos(
        _ snapshot: DaemonMirror, _ client: ServiceClient
    ) async throws -> [(String, String)] {
        let typed = PhotoReference(request.prefix)
        let account = try snapshot.loggedInAccount(typed.account)
        // Only liked photos can be unliked.
        let source = request.command == "unlike" ? "likes" : ""
        let (page, _) = try await client.account(account.path).page(source, cursor: "", count: 30)
        let isBare =
            typed.account == nil && !request.prefix.isEmpty
            && !account.id.hasPrefix(request.prefix)
        let photos = page.map { photo in
            (isBare ? photo.id : "\(account.id)/\(photo.id)", photo.caption)
        }
        let others = snapshot.accounts.filter { $0.isLoggedIn && $0.path != account.path }
        return photos + (typed.account == nil ? others.map { ("\($0.id)/", $0.label) } : [])
    }
}
