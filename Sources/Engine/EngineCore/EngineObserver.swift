package import EngineModel
package import ProviderKit
package import SlideshowCore

/// An observer of the engine.
///
/// Add it with ``Engine/addObserver(_:)``, then read the current state: an observer receives only later events.
package protocol EngineObserver: AnyObject {
    /// Handles an event. The state that it reports is stored already.
    ///
    /// Several observers receive all events in the same order. An event that an observer causes here follows after the
    /// current event has reached all observers.
    func handle(_ event: EngineEvent)
}

/// An event of the engine.
package enum EngineEvent {
    /// The default account, the availability of the network or ``CombinedFeed/incomplete`` changed.
    case changed
    /// An account was added. It is logged in. Later logins and logouts are the event
    /// ``AccountEvent/changed(_:)`` with ``AccountChange/session``.
    case accountAdded(Account)
    case account(Account, AccountEvent)
    /// An account was removed. Its session ends after this event.
    case accountRemoved(Account)
    /// A provider was installed, also another version of one that was removed before.
    case providerAdded(any Provider)
    case providerRemoved(String)
    /// The settings or the condition of a provider changed.
    case providerChanged(any Provider)
    case loginAdded(Login)
    case loginChanged(Login)
    case loginRemoved(Login)
    case transferAdded(Transfer)
    /// The state or the error changed, or, at most ten times a second, the number of received bytes.
    case transferChanged(Transfer)
    case transferRemoved(Transfer)
    case slideshowAdded(Slideshow)
    case slideshowRemoved(Slideshow)
}

extension Engine {
    /// Adds an observer of later events. The engine references it weakly. An object is added only once.
    package func addObserver(_ observer: any EngineObserver) {
        removeObserver(observer)
        observers.append { [weak observer] in observer }
    }

    /// Removes an observer. It receives no further event.
    package func removeObserver(_ observer: any EngineObserver) {
        observers.removeAll { $0() == nil || $0() === observer }
    }

    /// Passes an event to the observers. The state that it reports must be stored.
    func emit(_ event: EngineEvent) {
        pendingEvents.append(event)
        // Otherwise the delivery in progress continues with this event.
        guard pendingEvents.count == 1 else { return }
        while let event = pendingEvents.first {
            for observer in observers.compactMap({ $0() })
            where observers.contains(where: { $0() === observer }) {
                observer.handle(event)
            }
            pendingEvents.removeFirst()
        }
    }
}
