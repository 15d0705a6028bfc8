internal import Contract
internal import DBus
internal import Quoting
internal import Translation

extension DaemonMirror {
    /// The properties of the default slideshow; nil if the daemon has none.
    var slideshow: SlideshowProperties? { slideshow(ServiceName.slideshow) }

    /// Returns the properties of a slideshow; nil if there is none.
    func slideshow(_ path: ObjectPath) -> SlideshowProperties? {
        slideshows.first { $0.path == path }
    }

    /// Returns the provider of an account; nil if the daemon has none.
    func provider(of account: AccountProperties) -> ProviderProperties? {
        providers.first { $0.id == account.providerID }
    }

    /// Returns the display name of an account's provider.
    func providerName(of account: AccountProperties) -> String {
        provider(of: account)?.name ?? account.providerID
    }

    /// Returns the reason why an account or its provider cannot be used; nil if there is none.
    func problem(of account: AccountProperties) -> String? {
        if account.state != .ready, !account.stateReason.isEmpty { return account.reason }
        let reason = provider(of: account)?.stateReason ?? ""
        return reason.isEmpty ? nil : reason
    }

    /// Returns the problems for which photos of an account may be missing, for a command that has no photos.
    ///
    /// - Parameter path: The account. For the combined account, the problems are those of the accounts that its most
    ///   recent first page left out.
    /// - Returns: The problems, each with the exit status of a command that has no result because of it.
    func feedProblems(of path: ObjectPath) -> [CommandFailure] {
        guard path == ServiceName.combined else {
            return accounts.filter { $0.path == path }.compactMap(feedProblem)
        }
        let paths = combined?[.combined, .incomplete]?.objectPaths ?? []
        return accounts.filter { paths.contains($0.path) }.map { account in
            let problem = feedProblem(of: account)
            let reason = problem?.message ?? tr("It could not be read in time.")
            let status = problem?.status ?? .done
            return CommandFailure(
                status == .done ? .failed : status,
                tr("{account} is left out.", ["account": account.id]), reason)
        }
    }

    private func feedProblem(of account: AccountProperties) -> CommandFailure? {
        if let reason = problem(of: account) {
            return CommandFailure(account.status, reason.sentence, account.advice)
        }
        let notices = account.notices.joined(separator: " ")
        return notices.isEmpty ? nil : CommandFailure(.done, notices)
    }
}
