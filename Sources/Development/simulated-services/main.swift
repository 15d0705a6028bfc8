// The simulated services for tests of the window, controlled by lines on standard input. Ends with its input.
//
// The first line of the output has the settings as JSON. The response to each command is `ok` and a value, or `error`.

internal import Glibc
internal import ImmichSimulator
internal import MastodonSimulator
internal import NextcloudSimulator
internal import ServiceSimulator
internal import UnsplashSimulator
internal import WikimediaSimulator

/// A command: the name, the service, and arguments, separated by spaces.
struct Command {
    let words: [String]

    init(_ line: String) { words = line.split(separator: " ").map(String.init) }

    func word(_ index: Int) -> String { index < words.count ? words[index] : "" }
    /// The words from an index on, as one text.
    func rest(_ index: Int) -> String { words.dropFirst(index).joined(separator: " ") }
}

/// The faults by their names.
func fault(_ name: String) -> Fault? {
    // limit:SECONDS
    if name.hasPrefix("limit:"), let seconds = Int(name.dropFirst(6)) {
        return .tooManyRequests(retryAfterSeconds: seconds)
    }
    return switch name {
    case "limit": .rateLimited
    case "deny": .status(403, error: "The user has not granted the permission.")
    case "refuse": .status(422, error: "The photo cannot be liked.")
    case "broken": .htmlStatus(503)
    case "slow": .drip(bytes: 512, pause: .milliseconds(50))
    case "unauthorized": .status(401, error: "OAuth error: The access token is invalid")
    default: nil
    }
}

/// Performs a command that every service has.
///
/// - Returns: False if there is no such command.
func perform(_ command: Command, on service: some SimulatedService) throws -> Bool {
    switch command.word(0) {
    // fail SERVICE FAULT TIMES METHOD PATH; 0 times for no limit
    case "fail":
        guard let fault = fault(command.word(2)), let times = Int(command.word(3)) else {
            return false
        }
        service.fail(RequestPattern(command.rest(4)), fault, times: times == 0 ? nil : times)
    case "recover": service.recover(RequestPattern(command.rest(2)))
    case "stop":
        service.stop()
        service.disconnect()
    case "resume": try service.resume()
    default: return false
    }
    return true
}

let unsplash: SimulatedUnsplash
let mastodon: SimulatedMastodon
let immich: SimulatedImmich
let nextcloud: SimulatedNextcloud
let commons: SimulatedWikimedia
do {
    unsplash = try .start()
    mastodon = try .start("photos.test")
    immich = try .start(.v3)
    nextcloud = try .start(path: "/nextcloud")
    commons = try .start()
} catch {
    print("error \(error)")
    exit(1)
}
// The ports of the redirects are those of the arguments.
unsplash.settings.redirectURIs += CommandLine.arguments.dropFirst()
unsplash.addUser("ada")
mastodon.addUser("ada")
immich.addUser("ada")
nextcloud.addUser("ada")

print(
    """
    {"unsplash": {"api": "\(unsplash.apiURL)", "web": "\(unsplash.webURL)", "id": "\(unsplash.clientID)", \
    "secret": "\(unsplash.clientSecret)"}, "mastodon": {"name": "\(mastodon.name)", "url": "\(mastodon.url)"}, \
    "immich": {"url": "\(immich.url)", "key": "\(immich.makeKey(of: "ada"))"}, \
    "nextcloud": {"url": "\(nextcloud.url)"}, "daily": {"api": "\(commons.apiURL)"}}
    """)
fflush(nil)

while let line = readLine() {
    let command = Command(line)
    do {
        var answer = ""
        var isKnown = true
        switch (command.word(0), command.word(1)) {
        case ("revoke", "unsplash"): unsplash.revokeTokens(of: "ada")
        case ("likes", "unsplash"): answer = "\(unsplash.likes(of: "ada").count)"
        case ("exhaust", "unsplash"): unsplash.leaveRequests(0)
        case ("advance", "unsplash"): unsplash.advanceClock(seconds: 7200)
        case ("sessions", "immich"): answer = "\(immich.sessions.count)"
        case ("passwords", "nextcloud"): answer = "\(nextcloud.passwords.count)"
        case ("confirm", "nextcloud"):
            isKnown = nextcloud.confirm(command.word(2), as: "ada")
        case (_, "unsplash"): isKnown = try perform(command, on: unsplash)
        case (_, "mastodon"): isKnown = try perform(command, on: mastodon)
        case (_, "immich"): isKnown = try perform(command, on: immich)
        case (_, "nextcloud"): isKnown = try perform(command, on: nextcloud)
        default: isKnown = false
        }
        print(isKnown ? "ok \(answer)" : "error There is no command \(line)")
    } catch {
        print("error \(error)")
    }
    fflush(nil)
}
