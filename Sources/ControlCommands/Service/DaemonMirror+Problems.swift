internal import Contract
internal import DBus
internal import Translation

extension DaemonMirror {
    /// The properties of the default slideshow; nil if the daemon has none.
    var slideshow: SlideshowProperties? { slideshow(ServiceName.slideshow) }

    /// Returns the properties of a slideshow; nil if there is none.
    func slideshow(_ path: ObjectPath) -> SlideshowProperties? {
        slideshows.first { $0.path == path }
    }

    /// Returns the display name of an account's provider.
    func providerName(of account: AccountProperties) -> String {
        providers.first { $0.id == account.providerID }?.name ?? account.providerID
    }

    /// Returns the reason why an account or its provider cannot be used; nil if there is none.
    func problem(of path: ObjectPath) -> String? {
        guard let account = accounts.first(where: { $0.path == path }) else { return nil }
        if account.state != .ready, !account.stateReason.isEmpty { return account.stateReason }
        let reason = providers.first { $0.id == account.providerID }?.stateReason ?? ""
        return reason.isEmpty ? nil : reason
    }

    /// Returns the problem of an account for which photos may be missing; nil if there is none.
    func feedProblem(of path: ObjectPath) -> AccountProblem? {
        guard let account = accounts.first(where: { $0.path == path }) else { return nil }
        if let reason = problem(of: path) {
            let message = [CommandFailure.sentence(reason), account.advice].compactMap(\.self)
            return AccountProblem(account.status, message.joined(separator: " "))
        }
        let notices = account.notices.joined(separator: " ")
        return notices.isEmpty ? nil : AccountProblem(.done, notices)
    }

    /// The problems of the accounts that the most recent first page of the combined account left out.
    var combinedProblems: [AccountProblem] {
        let paths = combined?[.combined, .incomplete]?.objectPaths ?? []
        return accounts.filter { paths.contains($0.path) }.map { account in
            let problem = feedProblem(of: account.path)
            let reason = problem?.message ?? tr("It could not be read in time.")
            let status = problem?.status ?? .done
            return AccountProblem(
                status == .done ? .failed : status,
                [tr("{account} is left out.", ["account": account.id]), reason]
                    .joined(separator: " "))
        }
    }
}

/// A problem of an account, for the user.
struct AccountProblem {
    /// The exit status of a command that has no result because of the problem.
    let status: ProgramStatus
    /// The reason and the remedy.
    let message: String

    init(_ status: ProgramStatus, _ message: String) {
        self.status = status
        self.message = message
    }
}
