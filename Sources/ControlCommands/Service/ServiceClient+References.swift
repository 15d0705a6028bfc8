internal import Contract
internal import DBus
internal import Quoting
internal import Translation

extension ServiceClient {
    /// Connects to the session bus, which starts the daemon with the first call if it is not running.
    ///
    /// - Throws: ``BusError/noBus(_:)`` if there is no session bus.
    init() throws { self.init(try BusConnection.session()) }

    /// Finds a provider, also one that was just installed: the daemon searches for a provider that a call names.
    ///
    /// - Throws: ``CommandFailure`` if there is no such provider.
    func provider(_ id: String) async throws -> ProviderProperties {
        let known = try await snapshot().providers.first { $0.id == id }
        if let known { return known }
        guard let path = try? ObjectPath("\(ServiceName.providers)/\(id)"),
            let properties = try? await provider(path).properties()
        else {
            throw CommandFailure.tr(
                "There is no provider “{provider}”. “imagefeedctl providers” lists the providers.",
                ["provider": id.excerpt])
        }
        return ProviderProperties(path: path, properties: properties)
    }

    /// Finds a logged-in account or the combined account.
    ///
    /// - Parameters:
    ///   - reference: See ``DaemonMirror/account(_:prefersLoggedIn:)``.
    ///   - isCombined: True for the combined account.
    /// - Returns: The account, its client, and the state of the daemon.
    /// - Throws: ``CommandFailure`` if there is no such account, or if no account is logged in.
    func feed(
        _ reference: String?, isCombined: Bool = false
    ) async throws -> (
        client: AccountClient, account: AccountProperties, snapshot: DaemonMirror
    ) {
        let snapshot = try await snapshot()
        let account =
            try isCombined ? snapshot.combinedAccount() : snapshot.loggedInAccount(reference)
        return (self.account(account.path), account, snapshot)
    }

    /// Finds the photo of a photo argument.
    ///
    /// - Parameter argument: The photo; without one, the current photo of the slideshow.
    /// - Returns: The ID of the photo within its account, the logged-in account, its client, and the state of the daemon.
    /// - Throws: ``CommandFailure`` if there is no such account, it is logged out, or there is no current photo.
    func photo(
        _ argument: PhotoArgument
    ) async throws -> (
        id: String, account: AccountProperties, client: AccountClient, snapshot: DaemonMirror
    ) {
        let snapshot = try await snapshot()
        let reference = try (argument.reference ?? .current).resolved(snapshot)
        let account = try snapshot.loggedInAccount(reference.account)
        return (reference.id, account, self.account(account.path), snapshot)
    }
}

/// Runs a request to an account, and adds a hint to an error that requires a login, and to one about a missing source.
///
/// - Parameters:
///   - account: The account; nil for several accounts.
///   - hasSource: True for a request that names a source.
///   - body: The request.
/// - Returns: The result of `body`.
/// - Throws: ``CommandFailure`` with a hint; other errors of `body` unchanged.
@MainActor
func addingHints<Value>(
    for account: AccountProperties?, hasSource: Bool = false, _ body: () async throws -> Value
) async throws -> Value {
    let isCombined = account?.isCombined == true
    do {
        return try await body()
    } catch let error as BusError where error.isReply(.needsLogin) {
        throw CommandFailure(error, advice: isCombined ? nil : account?.loginAdvice)
    } catch let error as BusError where hasSource && error.isReply(.notFound) {
        throw CommandFailure(
            error,
            advice:
                isCombined
                ? tr("“imagefeedctl sources --combined” lists the sources.")
                : tr("“imagefeedctl sources” lists the sources."))
    }
}
