internal import ProviderKit

/// A place in a source of the cache, as a cursor names it: below a position, in the cache of an epoch.
nonisolated struct FeedPlace {
    let epoch: Int64
    let position: Int64

    var text: String { "\(epoch).\(position)" }

    init(epoch: Int64, position: Int64) {
        self.epoch = epoch
        self.position = position
    }

    /// - Throws: ``ProviderError/invalidArgument(_:)``.
    init(parsing text: String) throws(ProviderError) {
        let numbers = text.split(separator: ".", omittingEmptySubsequences: false).map { Int64($0) }
        guard numbers.count == 2, let epoch = numbers[0], let position = numbers[1] else {
            throw .invalidArgument("The cursor is malformed.")
        }
        self.init(epoch: epoch, position: position)
    }
}
