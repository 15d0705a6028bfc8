import Foundation
import Glibc
import Testing

@testable import XML

/// The time and memory of documents that a server chooses. The suite runs alone, because it compares times.
@Suite(.timeLimit(.minutes(10)), .serialized)
struct DocumentLoadTests {
    /// The kinds of documents that took time or memory out of proportion to their size.
    enum Kind: String, CaseIterable {
        case longNamespace, longPrefixedNamespace, declarations, names, attributes, siblings, text

        /// Returns a document of about a size.
        func document(_ bytes: Int) -> [UInt8] {
            let long = String(repeating: "n", count: 250)
            func repeated(_ text: String) -> String {
                String(repeating: text, count: bytes / text.utf8.count)
            }
            let text =
                switch self {
                case .longNamespace:
                    "<r xmlns='\(long)'>" + repeated("<a>some text</a><b>1234</b>") + "</r>"
                case .longPrefixedNamespace:
                    "<r xmlns:x='\(long)'>" + repeated("<x:a x:b='' x:c=''>text</x:a>") + "</r>"
                case .declarations:
                    "<r>" + repeated("<x:a xmlns:x='u' xmlns:y='v' xmlns:z='w'/>") + "</r>"
                case .names:
                    "<r>"
                        + (0..<bytes / 20).map { "<a\($0 + 10_000_000)/>         " }.joined()
                        + "</r>"
                case .attributes:
                    "<r>"
                        + (0..<bytes / 250).map { number in
                            "<a " + (0..<10).map { "b\($0)='\(number)'             " }.joined()
                                + "/>"
                        }.joined() + "</r>"
                case .siblings: "<r>" + repeated("<a/>                ") + "</r>"
                case .text: "<r>" + repeated("<a>\(long)&amp;\(long)</a>") + "</r>"
                }
            return Array(text.utf8)
        }
    }

    /// Without a limit of elements, which most of the documents exceed.
    private static var wide: XMLLimits {
        var limits = XMLLimits()
        limits.elements = .max
        return limits
    }

    @Test(arguments: Kind.allCases)
    func `the time to parse a document is linear in its size`(_ kind: Kind) throws {
        let times = try [1, 2, 4].map { size in
            let document = kind.document(size << 20)
            return try (0..<3).map { _ in
                try processorTime { _ = try XMLDocument.parse(document, limits: Self.wide) }
            }.min() ?? 0
        }
        // Twice as much again as the proportion, for caches and the clock of a busy machine.
        #expect(times[1] < times[0] * 4 + 0.01, "\(kind): \(times)")
        #expect(times[2] < times[1] * 4 + 0.01, "\(kind): \(times)")
    }

    @Test(arguments: Kind.allCases)
    func `the memory of a document is a small multiple of its size`(_ kind: Kind) async throws {
        await #expect(processExitsWith: .success) { [name = kind.rawValue as String] in
            let kind = try #require(Kind(rawValue: name))
            let document = kind.document(4 << 20)
            let before = peakMemory()
            let root = try XMLDocument.parse(document, limits: Self.wide)
            let taken = peakMemory() - before
            #expect(!root.children.isEmpty)
            #expect(taken < 64 << 20, "\(kind): \(taken >> 20) MiB")
        }
    }

    @Test func `a namespace of 120 KB is refused at once`() throws {
        let long = String(repeating: "n", count: 120_000)
        let document = Array(
            ("<r xmlns='\(long)'>" + String(repeating: "<a/>", count: 30_000) + "</r>").utf8)
        let time = try processorTime {
            #expect(throws: XMLError.tooLarge) { try XMLDocument.parse(document) }
        }
        #expect(time < 0.1, "\(time) s")
    }
}

/// Returns the processor time of this thread that a body takes, in seconds.
private func processorTime(_ body: () throws -> Void) throws -> Double {
    var start = timespec()
    var end = timespec()
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &start)
    try body()
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &end)
    return Double(end.tv_sec - start.tv_sec) + Double(end.tv_nsec - start.tv_nsec) / 1e9
}

/// Returns the largest resident size of this process, in bytes.
private func peakMemory() -> Int {
    // RUSAGE_SELF, which is an enumeration in Swift.
    var usage = rusage()
    getrusage(0, &usage)
    return usage.ru_maxrss << 10
}
