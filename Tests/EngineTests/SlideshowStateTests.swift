import ProviderKit
import TestSupport
import Testing

@testable import Engine

/// Tests of the history and the timer's conditions, without tasks and time.
struct SlideshowStateTests {
    private func id(_ photo: String) -> CombinedPhotoID {
        CombinedPhotoID(AccountID(stored: "local_ada"), PhotoID(photo))
    }

    private func shown(_ photo: String) -> SlideshowState.Shown {
        SlideshowState.Shown(id: id(photo), photo: Photo(id: PhotoID(photo)), image: "/\(photo)")
    }

    private func state(showing photos: String...) -> SlideshowState {
        var state = SlideshowState()
        for photo in photos { state.advance(to: shown(photo)) }
        return state
    }

    private func names(_ ids: [CombinedPhotoID]) -> String {
        ids.map(\.photo.text).joined(separator: " ")
    }

    @Test func `going back and forward passes through the history`() {
        var state = state(showing: "a", "b", "c")
        let done1 = state.goBack(to: shown("b"))
        #expect(done1)
        let done2 = state.goBack(to: shown("a"))
        #expect(done2)
        #expect(state.past.isEmpty)
        #expect(names(state.future) == "b c")
        let done3 = state.goForward(to: shown("b"))
        #expect(done3)
        #expect(names(state.past) == "a")
        #expect(state.current?.id == id("b"))
        #expect(names(state.future) == "c")
        let done4 = state.goForward(to: shown("x"))
        #expect(!done4)
    }

    @Test func `photos that are skipped on the way remain in the history`() {
        var state = state(showing: "a", "b", "c", "d")
        let done5 = state.goBack(to: shown("a"))
        #expect(done5)
        #expect(names(state.future) == "b c d")
        let done6 = state.goForward(to: shown("c"))
        #expect(done6)
        #expect(names(state.past) == "a b")
        #expect(names(state.future) == "d")
    }

    @Test func `a selected photo ends the way forward`() {
        var state = state(showing: "a", "b", "c")
        let done7 = state.goBack(to: shown("a"))
        #expect(done7)
        state.show(shown("x"))
        #expect(names(state.past) == "a")
        #expect(state.future.isEmpty)
    }

    @Test func `the history has 100 photos before the current one`() {
        var state = SlideshowState()
        for number in 0..<150 { state.advance(to: shown("\(number)")) }
        #expect(state.past.count == 100)
        #expect(state.past.first == id("49"))
        #expect(state.past.last == id("148"))
    }

    @Test func `a photo that is shown again at once is not added to the history`() {
        let state = state(showing: "a", "a", "a")
        #expect(state.past.isEmpty)
    }

    @Test func `a hidden photo leaves the history, and unhiding does not bring it back`() {
        var state = state(showing: "a", "b", "a", "c")
        let done8 = state.hide(id("a"))
        #expect(!done8)
        #expect(names(state.past) == "b")
        let done9 = state.hide(id("c"))
        #expect(done9)
        #expect(state.current == nil)
        #expect(names(state.hidden) == "a c")
        let done10 = state.unhide(id("a"))
        #expect(done10)
        let done11 = state.unhide(id("a"))
        #expect(!done11)
        #expect(names(state.hidden) == "c")
        #expect(names(state.past) == "b")
    }

    @Test func `showing a hidden photo does not unhide it`() {
        var state = state(showing: "a")
        state.hide(id("b"))
        state.show(shown("b"))
        #expect(state.isHidden(id("b")))
        #expect(state.current?.id == id("b"))
    }

    @Test func `a removed account leaves the history, the hidden photos and the source`() {
        var state = state(showing: "a", "b")
        state.hide(id("c"))
        state.settings.source = SlideshowSource(
            account: AccountID(stored: "local_ada"), source: SourceID("album:x"))
        state.cursor = "7"
        state.forget(AccountID(stored: "local_ada"))
        #expect(state.current == nil && state.past.isEmpty && state.hidden.isEmpty)
        #expect(state.settings.source == .initial)
        #expect(state.cursor.isEmpty)
    }

    @Test func `the timer runs only with a client, an interval, and while not paused`() {
        var state = SlideshowState()
        #expect(state.timerInterval == nil)
        state.clients = [":1.1", ":1.2"]
        #expect(state.timerInterval == .seconds(1800))
        state.settings.isPaused = true
        #expect(state.timerInterval == nil && !state.isActive)
        state.settings.isPaused = false
        state.settings.intervalSeconds = 0
        #expect(state.timerInterval == nil && state.isActive)
        state.settings.intervalSeconds = 5
        state.clients = [":1.2"]
        #expect(state.timerInterval == .seconds(5))
        state.clients = []
        #expect(state.timerInterval == nil)
    }
}

/// Tests of the limits of a search.
struct SlideshowSearchTests {
    private let id = CombinedPhotoID(AccountID(stored: "a"), PhotoID("1"))
    private let other = CombinedPhotoID(AccountID(stored: "b"), PhotoID("1"))
    private var search = SlideshowSearch()

    @Test mutating func `a search fetches five images, then looks up cached ones`() {
        for _ in 0..<5 {
            expectAttempt(id, .fetch)
            let isOfPhoto = search.recordFailure(ProviderError.notFound(""), of: id)
            #expect(isOfPhoto)
        }
        for _ in 0..<200 { expectAttempt(id, .lookUp) }
        expectAttempt(id, .stop)
        #expect(search.isExhausted)
    }

    @Test mutating func `after a failure of the network, only cached images are used`() {
        expectAttempt(id, .fetch)
        let isOfPhoto = search.recordFailure(HTTPError.unreachable(""), of: id)
        #expect(!isOfPhoto)
        expectAttempt(id, .lookUp)
        expectAttempt(other, .fetch)
    }

    @Test mutating func `no fetch begins when the time is over, or the network may not be used`() {
        expectAttempt(id, .lookUp, mayFetch: false)
        search.start -= .seconds(11)
        expectAttempt(id, .lookUp)
    }

    private mutating func expectAttempt(
        _ id: CombinedPhotoID, _ expected: SlideshowSearch.Attempt, mayFetch: Bool = true
    ) {
        let attempt = search.attempt(id, mayFetch: mayFetch)
        #expect(attempt == expected)
    }
}
