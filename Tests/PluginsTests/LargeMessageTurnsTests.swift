import Testing

@testable import Plugins

@MainActor
struct LargeMessageTurnsTests {
    @Test func `one plugin has the turn at a time, in the order of the requests`() {
        let turns = LargeMessageTurns()
        var order: [Int] = []
        var held: [Int: LargeMessageTurns.Turn] = [:]
        for number in 0..<3 {
            turns.request {
                order.append(number)
                held[number] = $0
            }
        }
        // The turn ends after it left the dictionary: the next one is added then.
        func end(_ number: Int) {
            let turn = held.removeValue(forKey: number)
            withExtendedLifetime(turn) {}
        }
        #expect(order == [0])
        end(0)
        #expect(order == [0, 1])
        end(1)
        end(2)
        turns.request { _ in order.append(3) }
        // A turn that is not used ends at once.
        turns.request { _ in order.append(4) }
        #expect(order == [0, 1, 2, 3, 4])
    }
}
