internal import BusAPI
internal import DBus

/// The state of the daemon at one time.
struct ServiceSnapshot {
    /// The properties of the interface `Manager`.
    let manager: [String: Variant]
    /// The providers, sorted by object path.
    let providers: [ProviderRecord]
    /// The accounts, sorted by object path.
    let accounts: [AccountRecord]
    /// The interfaces of the combined account with their properties; nil if no account is logged in.
    let combined: [String: [String: Variant]]?
    /// The slideshows, sorted by object path, the default one first.
    let slideshows: [(path: ObjectPath, record: SlideshowRecord)]

    /// - Parameters:
    ///   - manager: The properties of the interface `Manager`.
    ///   - objects: The objects below the root object, with their interfaces and properties.
    init(
        manager: [String: Variant], objects: [ObjectPath: [String: [String: Variant]]]
    ) {
        self.manager = manager
        let sorted = objects.sorted { $0.key.text < $1.key.text }
        providers = sorted.compactMap { ProviderRecord(path: $0.key, interfaces: $0.value) }
        accounts = sorted.compactMap { AccountRecord(path: $0.key, interfaces: $0.value) }
        combined = objects[ServiceName.combined]
        slideshows = sorted.compactMap { path, interfaces in
            interfaces[InterfaceName.slideshow.text].map { (path, SlideshowRecord($0)) }
        }
    }

    /// The properties of the default slideshow; nil if the daemon has none.
    var slideshow: SlideshowRecord? { slideshow(ServiceName.slideshow) }

    /// Returns the properties of a slideshow; nil if there is none.
    func slideshow(_ path: ObjectPath) -> SlideshowRecord? {
        slideshows.first { $0.path == path }?.record
    }

    var version: String { manager["Version"]?.string ?? "" }
    var isOnline: Bool { manager["Online"]?.bool ?? false }
    /// The limits of the daemon's systemd unit that are not in force.
    var missingLimits: [String] { manager["MissingLimits"]?.strings ?? [] }
    /// The path of the default account; nil if no account is logged in.
    var defaultAccount: ObjectPath? {
        manager["DefaultAccount"]?.objectPath.flatMap { $0 == .root ? nil : $0 }
    }

    /// Returns the display name of an account's provider.
    func providerName(of account: AccountRecord) -> String {
        providers.first { $0.id == account.providerID }?.name ?? account.providerID
    }

    /// Returns the reason why an account or its provider cannot be used; nil if there is none.
    func problem(of path: ObjectPath) -> String? {
        guard let account = accounts.first(where: { $0.path == path }) else { return nil }
        if account.state != "ready", !account.stateReason.isEmpty { return account.stateReason }
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
        let paths = combined?[InterfaceName.combined.text]?["Incomplete"]?.objectPaths ?? []
        return accounts.filter { paths.contains($0.path) }.map { account in
            let problem = feedProblem(of: account.path)
            let reason = problem?.message ?? "It could not be read in time."
            let status = problem?.status ?? .done
            return AccountProblem(
                status == .done ? .failed : status, "\(account.id) is left out. \(reason)")
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
