internal import Contract
package import DBus
package import EngineCore
internal import EngineModel
internal import Feeds
internal import ProviderKit
internal import SlideshowCore

/// The D-Bus interface of the engine: all objects and signals.
///
/// It decodes calls, calls the engine and encodes the results.
package final class BusExporter: EngineObserver {
    private let engine: Engine
    private let tree: ObjectTree
    private let builtInProviders: Set<String>
    private let secrets = SecretReader()
    private let manager = ExportedObject(ServiceName.root)
    private let watchers: FollowedClients
    private lazy var loginInterface = Login.interface(tree.connection)
    private let runtimeFolder: String?
    private var slideshows: [String: SlideshowObject] = [:]
    private(set) var accounts: [AccountID: AccountObject] = [:]
    /// The combined account; nil while no account is logged in.
    private(set) var combined: CombinedObject?

    /// Exports the objects of the engine, and observes it for later changes.
    ///
    /// - Parameters:
    ///   - engine: The engine. This object observes it.
    ///   - tree: An empty tree whose root is ``ServiceName/root``.
    ///   - builtInProviders: The IDs of the providers that come with the program.
    ///   - runtimeFolder: The folder for the files with the current photos; nil for no files.
    ///   - findProviders: Adds the providers that were just installed to the engine. Called for a call that names an
    ///     unknown provider.
    package init(
        _ engine: Engine, _ tree: ObjectTree, builtInProviders: Set<String> = [],
        runtimeFolder: String? = nil,
        findProviders: @escaping @MainActor () async -> Void = {}
    ) {
        self.builtInProviders = builtInProviders
        self.engine = engine
        self.tree = tree
        watchers = FollowedClients(tree.connection) { engine.unwatch(.client($0.text)) }
        self.runtimeFolder = runtimeFolder
        manager.add(ManagerObject.interface, on: ManagerObject(engine, secrets, findProviders))
        tree.export(manager)
        for slideshow in engine.slideshows.all { slideshowAdded(slideshow) }
        if let runtimeFolder {
            SlideshowFiles.delete(in: runtimeFolder, besides: Set(slideshows.keys))
        }
        engine.addObserver(self)
        for provider in engine.providers { providerAdded(provider) }
        for account in engine.accounts.all { accountAdded(account) }
        updateCombined()
        tree.onUnknownObject = { path in
            path.elements(below: ServiceName.providers).map { _ in findProviders }
        }
        tree.onRead = { [weak engine] in engine?.checkAvatars() }
    }

    /// Creates the tree that ``init(_:_:builtInProviders:runtimeFolder:)`` fills.
    package static func makeTree(_ connection: BusConnection) -> ObjectTree {
        ObjectTree(
            connection, root: ServiceName.root, maximumTextBytes: 64 << 10,
            errorReply: ErrorTable.reply)
    }

    /// The name that the service owns on the bus.
    package static let name = ServiceName.bus

    /// Limits the size of the prepared replies of all accounts.
    private func limitPreparedReplies(keeping account: AccountID) {
        let sizes = accounts.mapValues(\.feed.preparedPages.bytes)
        for id in PreparedPageCache.largest(of: sizes, keeping: account) {
            accounts[id]?.feed.preparedPages.discardReplies()
        }
    }

    /// Discards the prepared replies.
    package func releaseMemory() {
        tree.releaseMemory()
        for object in accounts.values { object.feed.preparedPages.discardReplies() }
        combined?.feed.preparedPages.discardReplies()
    }

    // MARK: EngineObserver

    package func handle(_ event: EngineEvent) {
        switch event {
        case .changed:
            manager.announceChanges()
            combined?.exported.announceChanges()
        case .accountAdded(let account):
            accountAdded(account)
            updateCombined()
        case .account(let account, let event):
            accounts[account.id]?.handle(event)
            if case .changed = event { updateCombined() }
            combined?.handle(event, of: account)
        case .accountRemoved(let account):
            remove(accounts.removeValue(forKey: account.id)?.exported)
            updateCombined()
        case .providerAdded(let provider): providerAdded(provider)
        case .providerRemoved(let id): remove(tree[ServiceName.providers.appending(id)])
        case .providerChanged(let provider): tree[provider.info.path]?.announceChanges()
        case .loginAdded(let login): export(login.path, loginInterface, login)
        case .loginChanged(let login): tree[login.path]?.announceChanges()
        case .loginRemoved(let login): remove(tree[login.path])
        case .transferAdded(let transfer):
            export(transfer.path, Transfer.interface, transfer)
        case .transferChanged(let transfer): tree[transfer.path]?.announceChanges()
        case .transferRemoved(let transfer): remove(tree[transfer.path])
        case .slideshowAdded(let slideshow): slideshowAdded(slideshow)
        case .slideshowRemoved(let slideshow):
            let object = slideshows.removeValue(forKey: slideshow.name)
            object?.removeFiles()
            remove(object?.exported)
        }
    }

    private func accountAdded(_ account: Account) {
        let object = AccountObject(account, watchers)
        object.feed.onPageStored = { [weak self, id = account.id] in
            self?.limitPreparedReplies(keeping: id)
        }
        accounts[account.id] = object
        tree.export(object.exported)
    }

    /// Exports the combined account while an account is logged in, and announces changes of its accounts.
    private func updateCombined() {
        guard !engine.combined.accounts.isEmpty else {
            remove(combined?.exported)
            combined = nil
            return
        }
        if let combined { return combined.updateMembers() }
        let object = CombinedObject(engine.combined, watchers)
        combined = object
        tree.export(object.exported)
    }

    private func providerAdded(_ provider: any Provider) {
        export(
            provider.info.path, ProviderObject.interface,
            ProviderObject(
                provider, isBuiltIn: builtInProviders.contains(provider.info.id), engine, secrets))
    }

    private func export<Object: AnyObject>(
        _ path: ObjectPath, _ interface: BusInterface<Object>, _ object: Object
    ) {
        let exported = ExportedObject(path)
        exported.add(interface, on: object)
        tree.export(exported)
    }

    private func slideshowAdded(_ slideshow: Slideshow) {
        let object = SlideshowObject(slideshow, engine, tree.connection, folder: runtimeFolder)
        slideshows[slideshow.name] = object
        tree.export(object.exported)
    }

    private func remove(_ object: ExportedObject?) {
        if let object { tree.remove(object) }
    }
}
