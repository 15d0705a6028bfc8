internal import Glibc
package import ServiceSimulator

/// The state of a simulated server.
package struct ServerState: SimulatedOAuthState {
    struct Application {
        let secret: String
        let redirectURIs: [String]
        let scopes: [String]
        /// The user of the latest login.
        var lastUser = ""
    }

    let name: String
    let software: Software
    var origin = ""
    var mediaOrigin = ""
    var settings = Settings()
    var users: [String: SimulatedUser] = [:]
    /// Newest first.
    var statuses: [SimulatedStatus] = []
    var applications: [String: Application] = [:]
    var registrations = 0
    package var tokens = TokenStore()
    package var faults = FaultPlan()
    package var secondsAhead = 0
    /// The number of requests that each token has used in the current window.
    private var used: [String: Int] = [:]
    private var window = 0
    private var delayedUnfavourites: [(username: String, status: SimulatedStatus.ID)] = []
    private var random: SeededRandom
    private var lastID = 117_020_570_194_921_638
    private var lastLike = 40

    package var now: Moment { Moment(time(nil)) + secondsAhead }

    init(_ name: String, _ software: Software, statusCount: Int, seed: UInt64) {
        self.name = name
        self.software = software
        random = SeededRandom(seed: seed)
        settings.tokenLifetimeSeconds = software.tokenLifetimeSeconds
        settings.reusesTokens = software.reusesTokens
        for username in ["lin", "zoe"] {
            users[username] = SimulatedUser(
                id: nextID(), username: username,
                displayName: username == "zoe" ? "Zoë :camera: <b>" : "Lin Wén 文")
        }
        for count in 0..<statusCount {
            let status = makeStatus(count, of: statusCount)
            statuses.insert(status, at: 0)
        }
    }

    /// Returns a new ID, which exceeds the integers that JavaScript represents exactly.
    mutating func nextID() -> String {
        lastID += Int.random(in: 1...9_999_999, using: &random)
        return "\(lastID)"
    }

    /// Creates a status with a number of images and the current time.
    mutating func makeStatus(imageCount: Int) -> SimulatedStatus {
        let nouns = ["dog", "lighthouse", "mountain", "river", "bicycle", "forest"]
        let noun = nouns[Int.random(in: 0..<nouns.count, using: &random)]
        let colors = ["#d9c0c0", "#40260c", "#26590c", "#c0d9f3"]
        let attachments = (0..<imageCount).map { number in
            var attachment = SimulatedStatus.Attachment(id: nextID())
            attachment.description = number == 2 ? nil : "a \(noun) <\(number + 1)>"
            attachment.blurHash = number == 2 ? nil : attachment.blurHash
            attachment.color = colors[Int.random(in: 0..<colors.count, using: &random)]
            return attachment
        }
        return SimulatedStatus(
            id: nextID(), author: Bool.random(using: &random) ? "lin" : "zoe", created: now,
            content:
                "<p>A \(noun) &amp; more</p><p><a href=\"https://example.org/a/long/way\"><span class=\"invisible\">https://</span><span class=\"ellipsis\">example.org/a</span><span class=\"invisible\">/long/way</span></a></p>",
            attachments: attachments, otherLikes: Int.random(in: 0...90, using: &random))
    }

    /// Creates a status whose ID lies between those of two statuses.
    mutating func makeLateStatus(below index: Int) -> SimulatedStatus {
        let status = makeStatus(imageCount: 1)
        let numbers = statuses[index - 1...index].compactMap { Int($0.id) }
        guard numbers.count == 2 else { return status }
        let id = numbers[1] + (numbers[0] - numbers[1]) / 2
        return SimulatedStatus(
            id: "\(id)", author: status.author, created: status.created, content: status.content,
            attachments: status.attachments, otherLikes: status.otherLikes)
    }

    /// Creates an initial status. Some have no image, several images, or a warning; some are boosts.
    private mutating func makeStatus(_ count: Int, of all: Int) -> SimulatedStatus {
        var status = makeStatus(imageCount: count % 5 == 0 ? 3 : 1)
        status.created = now + (count - all) * 600
        switch count % 16 {
        case 3, 4: status.attachments = []
        case 6: status.attachments[0].kind = "video"
        case 7: status.isSensitive = true
        case 8: status.attachments[0].kind = "unknown"
        case 9: status.warning = "spiders"
        case 11 where count > 16:
            // A boost of an older status, whose photos appear at the position of the boost.
            status = SimulatedStatus(
                id: status.id, author: "zoe", created: status.created, content: "",
                attachments: [], boosts: statuses[9].id)
        case 13: status.filterAction = "hide"
        case 14: status.attachments[0].hasMeta = false
        default: break
        }
        return status
    }

    func status(_ id: SimulatedStatus.ID) -> SimulatedStatus? { statuses.first { $0.id == id } }

    /// Returns the IDs of the photos that a client should show in the home feed.
    func photos() -> [String] {
        var shown: [String] = []
        for wrapper in statuses where software != .pixelfed || wrapper.boosts == nil {
            let status = wrapper.boosts.flatMap { self.status($0) } ?? wrapper
            let isHidden = [wrapper, status].contains { $0.filterAction == "hide" }
            let isSensitive = [wrapper, status].contains {
                $0.isSensitive || !$0.warning.isEmpty || $0.filterAction == "warn"
            }
            guard !isHidden, !isSensitive else { continue }
            shown += status.photos(software).filter { !shown.contains($0) }
        }
        return shown
    }

    // MARK: Likes

    mutating func setLike(_ id: SimulatedStatus.ID, of username: String, _ isLiked: Bool) {
        let hasLike = users[username]?.likes.contains { $0.status == id } ?? false
        guard isLiked != hasLike else { return }
        if isLiked {
            lastLike += 3
            users[username]?.likes.insert((id, lastLike), at: 0)
        } else {
            users[username]?.likes.removeAll { $0.status == id }
        }
    }

    mutating func delayUnfavourite(_ id: SimulatedStatus.ID, of username: String) {
        delayedUnfavourites.append((username, id))
    }

    mutating func completeUnfavourites() {
        for (username, id) in delayedUnfavourites { setLike(id, of: username, false) }
        delayedUnfavourites = []
    }

    func likes(of status: SimulatedStatus) -> Int {
        status.otherLikes + users.values.count { $0.likes.contains { $0.status == status.id } }
    }

    // MARK: Requests

    package func username(_ request: RecordedRequest) -> String? { grant(request)?.username }

    func grant(_ request: RecordedRequest) -> TokenStore.Grant? {
        token(request).flatMap { tokens.grant($0, now: now) }
    }

    func token(_ request: RecordedRequest) -> String? {
        let parts = (request["Authorization"] ?? "").split(separator: " ").map(String.init)
        return parts.count == 2 && parts[0] == "Bearer" ? parts[1] : nil
    }

    package mutating func reply(to request: RecordedRequest, _ fault: Fault?) -> Reply {
        var reply: Reply
        if let other = fault?.replacement {
            reply = other
        } else {
            switch request.host {
            case .server where request.path.hasPrefix("/oauth/"): reply = oauthReply(request)
            case .server: reply = countedReply(request)
            case .media: reply = mediaReply(request)
            case .handles: reply = handleReply(request)
            default: reply = Reply(200, json: [:])
            }
        }
        if request.host == .server { reply.headers.append(("Date", now.http)) }
        fault?.change(&reply)
        return reply
    }

    /// Counts a request of a token, and adds the rate limit fields if the software has them.
    private mutating func countedReply(_ request: RecordedRequest) -> Reply {
        guard software.countsRequests, let token = token(request) else {
            return apiReply(request)
        }
        startWindow()
        let limit = settings.requestsPerWindow
        let isOver = used[token, default: 0] >= limit
        if !isOver { used[token, default: 0] += 1 }
        var reply = isOver ? error(429, "Too many requests", "リクエストが多すぎます") : apiReply(request)
        reply.headers += [
            ("X-RateLimit-Limit", "\(limit)"),
            ("X-RateLimit-Remaining", "\(limit - used[token, default: 0])"),
            (
                "X-RateLimit-Reset",
                Moment((window + 1) * 300).utc.replacing("Z", with: ".336319Z")
            ),
        ]
        return reply
    }

    /// Starts a new window if the last one has ended. Windows of five minutes begin at multiples of their length.
    private mutating func startWindow() {
        let current = now.secondsSince1970 / 300
        guard current != window else { return }
        window = current
        used = [:]
    }

    /// Sets the remaining requests of every token in the current window.
    mutating func leaveRequests(_ count: Int) {
        startWindow()
        for token in tokens.tokens { used[token.access] = settings.requestsPerWindow - count }
    }

    func error(_ status: Int, _ text: String, _ japanese: String) -> Reply {
        Reply(status, json: ["error": .string(settings.isJapanese ? japanese : text)])
    }

    private mutating func mediaReply(_ request: RecordedRequest) -> Reply {
        if let limit = settings.imagesPerHour {
            settings.imagesPerHour = max(0, limit - 1)
            if limit == 0 {
                let hour = (now.secondsSince1970 / 3600 + 1) * 3600
                return Reply(429, headers: [("X-RateLimit-Reset", Moment(hour).utc)])
            }
        }
        let parts = request.path.split(separator: "/").map(String.init)
        if parts.first == "avatars" {
            return jpeg(JPEGImage(width: 400, height: 400, color: nil))
        }
        guard parts.count == 3, parts[0] == "media" else { return Reply(404, html: "<p>No.</p>") }
        let id = parts[2].prefix { $0 != "." }
        let attachment = statuses.lazy.flatMap(\.attachments).first { $0.id == id }
        guard let attachment else { return Reply(404, html: "<p>Not found</p>") }
        let scale = parts[1] == "small" ? 2 : 1
        return jpeg(
            JPEGImage(
                width: attachment.width / scale, height: attachment.height / scale,
                color: attachment.color))
    }

    private func jpeg(_ image: JPEGImage) -> Reply {
        Reply(200, headers: [("Content-Type", "image/jpeg")], body: image.file)
    }
}
