internal import BusAPI
internal import DBus
internal import Dispatch
internal import Glibc

/// Finds what a word of the command line can become, by asking the daemon if it is running.
@MainActor
struct CompletionSource {
    let outline: CommandOutline.Command
    let request: CompletionRequest

    /// - Returns: What begins with what is typed. Without a bus, or a daemon that runs, ids are not known.
    func answer() async -> CompletionAnswer {
        switch request.wanted {
        case .nothing: return .words([])
        case .command:
            return words(
                outline.visibleCommands.map { ($0.commandName, $0.abstract ?? "") })
        case .option(let value):
            let names = words(options)
            guard names == .words([]), value == "photo" else { return names }
            return await known("photo")
        case .oneOf(let values): return words(values.map { ($0, "") })
        case .value("path"): return .files
        case .value(let name) where name.hasSuffix("file"): return .files
        case .value(let name): return await known(name)
        }
    }

    private func known(_ kind: String) async -> CompletionAnswer {
        do {
            return words(try await ids(kind))
        } catch {
            // No bus, no daemon, nothing cached: there is nothing to offer, and nobody to tell.
            return .words([])
        }
    }

    private var options: [(String, String)] {
        let command = outline.visibleCommands.first { $0.commandName == request.command } ?? outline
        return command.options.filter { request.used.isDisjoint(with: $0.spellings) }.flatMap {
            option in option.spellings.map { ($0, option.abstract ?? "") }
        }
    }

    /// Keeps of words, and what they are, those that begin with what is typed.
    private func words(_ all: [(String, String)]) -> CompletionAnswer {
        .words(
            all.filter { $0.0.hasPrefix(request.prefix) }.compactMap { word, summary in
                CompletionCandidate(request.fixed + word, summary)
            })
    }

    // MARK: What the daemon knows

    private func ids(_ kind: String) async throws -> [(String, String)] {
        guard ["account", "provider", "source", "photo"].contains(kind) else {
            return []
        }
        let connection = try BusConnection.session()
        // A daemon that does not run is not started for that.
        guard try await connection.owner(of: ServiceName.bus) != nil else { return [] }
        let client = ServiceClient(connection)
        let snapshot = ServiceSnapshot(
            manager: try await client.manager.properties(), objects: try await client.objects())
        switch kind {
        case "account":
            return snapshot.accounts.map { ($0.id, "\($0.label), \($0.state)") }
        case "provider":
            return snapshot.providers.map { ($0.id, $0.name) }
        case "source":
            let account = try snapshot.loggedInAccount(request.given["account"])
            return try await client.account(account.path).sources().map { source in
                (source[source: .id]?.string ?? "", source[source: .title]?.string ?? "")
            }
        default:
            return try await photos(snapshot, client)
        }
    }

    /// The first photos of the account that is typed, or of the default one; and the other accounts.
    private func photos(
        _ snapshot: ServiceSnapshot, _ client: ServiceClient
    ) async throws -> [(String, String)] {
        let typed = PhotoReference(request.prefix)
        let account = try snapshot.loggedInAccount(typed.account)
        // What is liked is what can be unliked.
        let source = request.command == "unlike" ? "likes" : ""
        let (page, _) = try await client.account(account.path).page(source, cursor: "", count: 30)
        let isBare =
            typed.account == nil && !request.prefix.isEmpty
            && !account.id.hasPrefix(request.prefix)
        let photos = page.map { photo in
            let id = photo[photo: .id]?.string ?? ""
            return (isBare ? id : "\(account.id)/\(id)", photo.caption)
        }
        let others = snapshot.accounts.filter { $0.isLoggedIn && $0.path != account.path }
        return photos + (typed.account == nil ? others.map { ("\($0.id)/", $0.label) } : [])
    }
}
