internal import Contract
internal import DBus
internal import ProviderKit
internal import Translation

extension CompletionRequest {
    /// A word with its description, for shells that show one.
    typealias Candidate = (word: String, summary: String)

    /// Returns the completions that begin with the typed part of the word; nil for file names, which the shell completes.
    ///
    /// Without a session bus or a running daemon, there are no completions of IDs.
    @MainActor func candidates() async -> [Candidate]? {
        switch expected {
        case .nothing: return []
        case .command:
            return words(command.visibleCommands.map { ($0.commandName, $0.abstract ?? "") })
        case .option(let value):
            let options = command.options.filter { usedOptions.isDisjoint(with: $0.spellings) }
            let names = words(
                options.flatMap { option in option.spellings.map { ($0, option.abstract ?? "") } })
            return names.isEmpty && value == "photo" ? await idCandidates("photo") : names
        case .oneOf(let values): return words(values.map { ($0, "") })
        case .value("path"), .value("folder"): return nil
        case .value(let name) where name.hasSuffix("file"): return nil
        case .value(let name): return await idCandidates(name)
        }
    }

    @MainActor private func idCandidates(_ kind: String) async -> [Candidate] {
        // Without a bus, a daemon or cached data, there are no candidates. A completion prints no errors.
        words((try? await fetchIDs(kind)) ?? [])
    }

    /// Returns the candidates whose word begins with the typed part.
    ///
    /// Empty words and words with control characters, as a name from a service or a file system may have, are left out:
    /// the shell scripts use line feeds and tabs as separators.
    private func words(_ all: [(String, String)]) -> [Candidate] {
        all.filter { word, _ in
            word.hasPrefix(prefix) && !(optionPrefix + word).isEmpty
                && word.unicodeScalars.allSatisfy(ServiceText.isPermitted)
        }.map { (optionPrefix + $0, TerminalText.line($1).truncated(to: 50)) }
    }

    // MARK: IDs of the daemon

    @MainActor private func fetchIDs(_ kind: String) async throws -> [(String, String)] {
        let kinds = ["account", "provider", "source", "slideshow-source", "slideshow", "photo"]
        guard kinds.contains(kind) else { return [] }
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
            let path =
                try usedOptions.contains("--combined")
                ? ServiceName.combined : snapshot.loggedInAccount(values["account"]).path
            return try await sources(path, client)
        case "slideshow-source":
            guard prefix.contains(":"),
                let typed = try? SlideshowSource(prefix)
            else {
                return [("combined", tr("All accounts"))]
                    + snapshot.accounts.filter(\.isLoggedIn).map { ($0.id, $0.label) }
            }
            let name = prefix.prefix { $0 != ":" }
            return try await sources(typed.path(snapshot), client).map { ("\(name):\($0.0)", $0.1) }
        case "slideshow":
            return snapshot.slideshows.dropFirst().map { ($0.name, $0.photo?.caption ?? "") }
        case _ where command.commandName == "unhide":
            let typed = PhotoReference(prefix).account
            let account = typed.flatMap { try? snapshot.account($0).id }
            return snapshot.slideshow?.hidden.map { id in
                let rest = account.flatMap { id.hasPrefix("\($0)/") ? id.dropFirst($0.count) : nil }
                return (rest.map { "\(typed ?? "")\($0)" } ?? id, "")
            } ?? []
        default:
            return try await photos(snapshot, client)
        }
    }

    /// Returns the sources of an account or of the combined account.
    @MainActor private func sources(
        _ account: ObjectPath, _ client: ServiceClient
    ) async throws -> [(String, String)] {
        try await client.account(account).sources().map { ($0.id.text, $0.title.translated) }
    }

    /// Returns the first photos of the typed or default account; without a typed account, also the other accounts.
    @MainActor private func photos(
        _ snapshot: DaemonMirror, _ client: ServiceClient
    ) async throws -> [(String, String)] {
        let typed = PhotoReference(prefix)
        let account = try snapshot.loggedInAccount(typed.account)
        // Only liked photos can be unliked.
        let source = command.commandName == "unlike" ? "likes" : ""
        let (page, _) = try await client.account(account.path).page(source, cursor: "", count: 30)
        let isBare = typed.account == nil && !prefix.isEmpty && !account.id.hasPrefix(prefix)
        let photos = page.map { photo in
            (isBare ? photo.id : "\(typed.account ?? account.id)/\(photo.id)", photo.caption)
        }
        let others = snapshot.accounts.filter { $0.isLoggedIn && $0.path != account.path }
        return photos + (typed.account == nil ? others.map { ("\($0.id)/", $0.label) } : [])
    }
}
