internal import SlideshowCore

extension Slideshow: EngineObserver {
    package func handle(_ event: EngineEvent) {
        switch event {
        case .changed: conditionsChanged()
        case .accountAdded: accountsChanged()
        case .account(let account, let event): handle(event, of: account.id)
        // A removed account is forgotten by `Slideshows.forget(_:)` before.
        default: break
        }
    }
}
