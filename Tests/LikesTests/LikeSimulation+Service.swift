import ProviderKit
import TestSupport

@testable import Likes

// The service, and other clients of it.
extension LikeSimulation {
    /// Refreshes some photos.
    func observe() {
        guard condition == .well, !isLoggedOut, queue.isLoaded else { return }
        let groups = Set(Self.groups.filter { _ in chance(2) })
        for photo in Self.photos where groups.contains(Self.group(of: photo)) {
            let group = Self.group(of: photo)
            guard !gone.contains(group) else { continue }
            let isLiked = liked.contains(group)
            guard var known = cache[photo] else {
                cache[photo] = Cached(isLiked: isLiked)
                continue
            }
            guard now >= known.confirmed + .seconds(600) || now < known.confirmed,
                known.isLiked != isLiked
            else { continue }
            known.isLiked = isLiked
            cache[photo] = known
            isCountKnown = false
            guard !queue.localLikes.contains(where: { $0.photo == photo }) else { continue }
            trace("observe \(photo) \(isLiked)")
            histories[group]?.confirmed = nil
            handle(.observed(photo, isLiked: isLiked))
        }
    }

    /// Executes a request to like at the service.
    func deliver(_ like: PendingLike) -> Result<Int?, any Error> {
        let group = Self.group(of: like.photo)
        statistics.sent += 1
        switch condition {
        case .offline: return .failure(HTTPError.unreachable("offline"))
        case .failing: return .failure(ProviderError.failed("503"))
        case .rateLimited: return .failure(ProviderError.rateLimited(until: nil))
        case .locked: return .failure(SecretStoreError.locked("locked"))
        case .needsLogin: return .failure(ProviderError.unauthorized)
        case .well, .answersLost: break
        }
        guard hasLikes else {
            return .failure(
                saysDenied ? ProviderError.denied("no likes") : ProviderError.notFound("no likes"))
        }
        if gone.contains(group) { return .failure(ProviderError.notFound("gone")) }
        if refused.contains(group) { return .failure(ProviderError.refused("422")) }
        check(
            histories[group]?.confirmed != like.isWanted,
            "\(group) \(like.isWanted) is sent again after it was confirmed")
        if like.isWanted { liked.insert(group) } else { liked.remove(group) }
        histories[group]?.isTouched = false
        if condition == .answersLost { return .failure(HTTPError.unreachable("lost")) }
        return .success(nil)
    }
}
