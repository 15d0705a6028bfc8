import EngineCore
import EngineModel
import Testing

/// Several observers of one engine.
@MainActor
struct EngineObserverTests {
    private let fixture: EngineFixture

    init() throws { fixture = try EngineFixture() }

    /// An observer that records the events, and may act on them.
    private final class Recorder: EngineObserver {
        private(set) var events: [String] = []
        var onEvent: (EngineEvent) -> Void = { _ in }

        func handle(_ event: EngineEvent) {
            let text: String? =
                switch event {
                case .changed: "engine"
                case .accountAdded(let account): "added \(account.label)"
                case .account(let account, .changed(.session)):
                    "\(account.isLoggedIn ? "logged in" : "logged out") \(account.label)"
                case .account(let account, .changed(.settings)): "settings \(account.label)"
                case .accountRemoved(let account): "removed \(account.label)"
                default: nil
                }
            if let text { events.append(text) }
            onEvent(event)
        }
    }

    @Test func `each observer receives logins, logouts and removals`() async throws {
        let observers = [Recorder(), Recorder()]
        observers.forEach(fixture.engine.addObserver)
        let account = try await fixture.logIn("ada")
        try await fixture.engine.accounts.logOut(account)
        try await fixture.logIn("ada", registers: false)
        try await fixture.engine.accounts.remove(account)
        for observer in observers {
            #expect(
                observer.events == [
                    "added ada", "engine", "logged out ada", "engine", "logged in ada", "engine",
                    "removed ada", "engine",
                ])
        }
    }

    @Test func `an observer that is added twice receives an event once, until it is removed`() {
        let observer = Recorder()
        for _ in 0..<2 { fixture.engine.addObserver(observer) }
        fixture.engine.setOnline(false)
        #expect(observer.events == ["engine"])
        fixture.engine.removeObserver(observer)
        fixture.engine.setOnline(true)
        #expect(observer.events == ["engine"])
    }

    @Test func `an observer that is removed during an event does not receive it`() throws {
        let (first, second) = (Recorder(), Recorder())
        first.onEvent = { _ in fixture.engine.removeObserver(second) }
        fixture.engine.addObserver(first)
        fixture.engine.addObserver(second)
        fixture.engine.setOnline(false)
        #expect(first.events == ["engine"])
        #expect(second.events.isEmpty)
    }

    @Test func `the engine does not retain its observers`() throws {
        var observer: Recorder? = Recorder()
        weak let weakObserver = observer
        fixture.engine.addObserver(try #require(observer))
        observer = nil
        #expect(weakObserver == nil)
        fixture.engine.setOnline(false)
    }

    @Test func `all observers receive nested events in the same order`() async throws {
        let (first, second) = (Recorder(), Recorder())
        // The first observer causes an event while it handles another.
        first.onEvent = { event in
            if case .accountAdded = event { fixture.engine.setOnline(false) }
        }
        fixture.engine.addObserver(first)
        fixture.engine.addObserver(second)
        try await fixture.logIn("ada")
        #expect(first.events == ["added ada", "engine", "engine"])
        #expect(second.events == first.events)
    }
}
