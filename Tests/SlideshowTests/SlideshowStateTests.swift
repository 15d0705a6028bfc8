import Accounts
import ProviderKit
import TestSupport
import Testing

@testable import Slideshow

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

    /// Each step is a photo with the kind of step: `<` goes back, `>` forward, `=` selects the photo, `-` hides it, and
    /// a photo alone is the next one of the order.
    @Test(arguments: [
        ("a b c <b <a", "|a|b c"), ("a b c <b <a >b", "a|b|c"),
        // The photo is not on the way.
        ("a b c <a >x", "|a|b c"), ("a b c <x", "a b|c|"),
        // Photos that are skipped on the way remain in the history.
        ("a b c d <a", "|a|b c d"), ("a b c d <a >c", "a b|c|d"), ("a b c <a d", "a b c|d|"),
        // A selected photo ends the way forward.
        ("a b c <a =x", "a|x|"),
        ("a a a", "|a|"),
        // A hidden photo leaves the history. One that is shown again stays hidden.
        ("a b a c -a", "b|c|"), ("a b a c -a -c", "b||"), ("a -b =b", "a|b|"),
    ])
    func `steps change the history`(steps: String, expected: String) {
        var state = SlideshowState()
        var hidden: [CombinedPhotoID] = []
        for step in steps.split(separator: " ") {
            let photo = String(step.drop { "<>=-".contains($0) })
            switch step.first {
            case "<": _ = state.goBack(to: shown(photo))
            case ">": _ = state.goForward(to: shown(photo))
            case "=": state.show(shown(photo))
            case "-":
                hidden.append(id(photo))
                state.hide(id(photo))
            default: state.advance(to: shown(photo))
            }
        }
        let current = state.current?.id.photo.text ?? ""
        #expect("\(names(state.past))|\(current)|\(names(state.future))" == expected)
        #expect(state.hidden == hidden && hidden.allSatisfy(state.isHidden))
    }

    @Test func `the history has 100 photos before the current one`() {
        var state = SlideshowState()
        for number in 0..<150 { state.advance(to: shown("\(number)")) }
        #expect(state.past.count == 100)
        #expect(state.past.first == id("49"))
        #expect(state.past.last == id("148"))
    }

    @Test func `unhiding a photo does not bring it back`() {
        var state = state(showing: "a", "b")
        state.hide(id("a"))
        for isHidden in [true, false] {
            let isUnhidden = state.unhide(id("a"))
            #expect(isUnhidden == isHidden)
        }
        #expect(state.past.isEmpty && state.hidden.isEmpty && !state.isHidden(id("a")))
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
    private var search = SlideshowSearch(timeLimit: .seconds(10))

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
