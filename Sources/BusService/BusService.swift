internal import BusAPI
package import DBus
package import Engine
package import ProviderKit

/// The D-Bus interface of the engine: all objects and signals.
///
/// It decodes calls, calls the engine and encodes the results; it makes no decisions.
package final class BusService: EngineObserver {
    private let engine: Engine
    private let tree: ObjectTree
    private let builtInProviders: Set<String>
    private let openURL: (String) async throws -> Void
    private let secrets = SecretReader()
    private let manager = ExportedObject(ServiceName.root)
    private let watchers: WatchingClients
    private(set) var accounts: [AccountID: AccountObject] = [:]
    private var providers: [String: ExportedObject] = [:]
    private var logins: [Int: ExportedObject] = [:]
    private var transfers: [Int: ExportedObject] = [:]

    /// Exports the objects of the engine, and observes it for later changes.
    ///
    /// - Parameters:
    ///   - engine: The engine. This object becomes its observer.
    ///   - tree: An empty tree whose root is ``ServiceName/root``.
    ///   - builtInProviders: The IDs of the providers that come with the program.
    ///   - version: The version of the program.
    ///   - missingLimits: Returns the limits of the systemd unit that are not in force. Called when a client reads
    ///     them.
    ///   - openURL: Opens an address in the user's browser.
    package init(
        _ engine: Engine, _ tree: ObjectTree, builtInProviders: Set<String> = [], version: String,
        missingLimits: @escaping () -> [String] = { [] },
        openURL: @escaping (String) async throws -> Void
    ) {
        self.openURL = openURL
        self.builtInProviders = builtInProviders
        self.engine = engine
        self.tree = tree
        watchers = WatchingClients(engine, tree.connection)
        manager.add(
            ManagerObject.interface,
            on: ManagerObject(engine, version: version, missingLimits: missingLimits, secrets))
        tree.export(manager)
        for provider in engine.providers { providerAdded(provider) }
        for account in engine.accounts { accountAdded(account) }
        engine.observer = self
        tree.onRead = { [weak engine] in engine?.checkAvatars() }
    }

    /// Creates the tree that ``init(_:_:builtInProviders:version:missingLimits:openURL:)`` fills.
    package static func makeTree(_ connection: BusConnection) -> ObjectTree {
        ObjectTree(
            connection, root: ServiceName.root, maximumTextBytes: 64 << 10,
            errorReply: ErrorTable.reply)
    }

    /// The name that the service owns on the bus.
    package static let name = ServiceName.bus

    /// Limits the size of the prepared replies of all accounts.
    private func limitPreparedReplies(keeping account: AccountID) {
        let sizes = accounts.mapValues(\.preparedBytes)
        for id in PreparedPageCache.largest(of: sizes, keeping: account) {
            accounts[id]?.discardPreparedReplies()
        }
    }

    // MARK: EngineObserver

    package func engineChanged() { manager.announceChanges() }

    package func accountAdded(_ account: Account) {
        let object = AccountObject(account, engine, watchers)
        object.onPageStored = { [weak self, id = account.id] in
            self?.limitPreparedReplies(keeping: id)
        }
        accounts[account.id] = object
        tree.export(object.exported)
    }

    package func accountChanged(_ account: Account, _ change: AccountChange) {
        accounts[account.id]?.update(change)
    }

    package func accountRemoved(_ account: Account) {
        guard let object = accounts.removeValue(forKey: account.id) else { return }
        tree.remove(object.exported)
    }

    package func tokenRemains(_ account: Account, _ message: String) {
        accounts[account.id]?.exported.emit(.account, "TokenRemains", message)
    }

    package func feedUpdated(_ account: Account, _ source: SourceID, new: Int) {
        accounts[account.id]?.sourceChanged(source)
        emit(account, "Updated", source.text, UInt32(clamping: new))
    }

    package func photosChanged(_ account: Account, _ photos: [Photo]) {
        accounts[account.id]?.photosChanged()
        for photo in photos {
            var changes = PhotoEntry(photo, account: account.path)
            changes.isNamed = false
            emit(account, "PhotoChanged", photo.id.text, changes)
        }
    }

    package func photosRemoved(_ account: Account, _ photos: [PhotoID]) {
        accounts[account.id]?.photosChanged()
        emit(account, "PhotosRemoved", photos.map(\.text))
    }

    package func likeSettled(_ account: Account, _ photo: PhotoID, isLiked: Bool, likes: Int) {
        accounts[account.id]?.exported.emit(
            .like, "Changed", photo.text, isLiked, UInt32(clamping: likes))
    }

    package func likeFailed(
        _ account: Account, _ photo: PhotoID, isWanted: Bool, _ error: any Error
    ) {
        let reply = ErrorTable.reply(error)
        accounts[account.id]?.exported.emit(
            .like, "Failed", photo.text, isWanted, reply.name.text, reply.message)
    }

    package func providerAdded(_ provider: any Provider) {
        let object = ExportedObject(provider.info.path)
        object.add(
            ProviderObject.interface,
            on: ProviderObject(
                provider, isBuiltIn: builtInProviders.contains(provider.info.id), engine, secrets))
        providers[provider.info.id] = object
        tree.export(object)
    }

    package func providerRemoved(_ id: String) {
        guard let object = providers.removeValue(forKey: id) else { return }
        tree.remove(object)
    }

    package func providerChanged(_ provider: any Provider) {
        providers[provider.info.id]?.announceChanges()
    }

    package func loginAdded(_ login: Login) {
        let object = ExportedObject(login.path)
        object.add(LoginObject.interface, on: LoginObject(login, openURL: openURL))
        logins[login.number] = object
        tree.export(object)
    }

    package func loginChanged(_ login: Login) { logins[login.number]?.announceChanges() }

    package func loginRemoved(_ login: Login) {
        guard let object = logins.removeValue(forKey: login.number) else { return }
        tree.remove(object)
    }

    package func transferAdded(_ transfer: Transfer) {
        let object = ExportedObject(transfer.path)
        object.add(TransferObject.interface, on: TransferObject(transfer))
        transfers[transfer.number] = object
        tree.export(object)
    }

    package func transferChanged(_ transfer: Transfer) {
        transfers[transfer.number]?.announceChanges()
    }

    package func transferRemoved(_ transfer: Transfer) {
        guard let object = transfers.removeValue(forKey: transfer.number) else { return }
        tree.remove(object)
    }

    private func emit<each Argument: BusType>(
        _ account: Account, _ member: MemberName, _ arguments: repeat each Argument
    ) {
        accounts[account.id]?.exported.emit(.feed, member, repeat each arguments)
    }
}
