internal import ProviderKit

/// A position in a cached source, as a cursor contains it: the order key of the last photo, and the state of the source
/// when the walk began.
nonisolated struct FeedPosition: Hashable, Sendable {
    /// A number that distinguishes the successive caches of a source.
    let epoch: Int64
    /// The generation of the source when the walk began.
    let generation: Int64
    /// The order key of the last photo that was returned.
    let key: String

    var text: String { "\(epoch).\(generation).\(URLEncoding.escape(key))" }

    init(epoch: Int64, generation: Int64, key: String) {
        self.epoch = epoch
        self.generation = generation
        self.key = key
    }

    /// - Throws: ``ProviderError/invalidArgument(_:)``; ``ProviderError/staleCursor`` for a cursor of an earlier
    ///   format.
    init(parsing text: String) throws(ProviderError) {
        let parts = text.split(
            separator: ".", maxSplits: 2, omittingEmptySubsequences: false)
        let numbers = parts.prefix(2).map { Int64($0) }
        guard numbers.count == 2, let epoch = numbers[0], let generation = numbers[1] else {
            throw .invalidArgument("The cursor is malformed.")
        }
        guard parts.count == 3 else { throw .staleCursor }
        guard let key = URLEncoding.unescape(parts[2]) else {
            throw .invalidArgument("The cursor is malformed.")
        }
        self.init(epoch: epoch, generation: generation, key: key)
    }
}
