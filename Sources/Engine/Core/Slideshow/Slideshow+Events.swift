internal import Slideshow

extension Slideshow: EngineObserver {
    package func handle(_ event: EngineEvent) {
        switch event {
        case .changed: conditionsChanged()
        case .accountAdded: accountsChanged()
        case .accountRemoved(let account): accountRemoved(account.id)
        case .account(let account, let event): handle(event, of: account.id)
        case .providerAdded, .providerRemoved, .providerChanged, .loginAdded, .loginChanged,
            .loginRemoved, .transferAdded, .transferChanged, .transferRemoved, .slideshowAdded,
            .slideshowRemoved:
            break
        }
    }
}
