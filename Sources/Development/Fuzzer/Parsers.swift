internal import CDBus
internal import DailyProvider
internal import Feeds
internal import ImageMetadata
internal import ImmichProvider
internal import MastodonProvider
internal import NextcloudProvider
internal import ProviderKit
internal import Quoting
internal import UnsplashProvider
internal import XML

@testable import Configuration
@testable import DBus
@testable import HTTP
@testable import OAuth

/// A parser of untrusted bytes. It must return within a short time for any input.
typealias Parser = @MainActor (_ bytes: [UInt8]) -> Void

/// The selected parser, as a global because libFuzzer calls a function without a context.
@MainActor var chosenParser: Parser = { _ in }

/// The parsers, by name.
let parsers: [String: Parser] = [
    "configuration": readConfiguration,
    "cursor": readCursor,
    "daily": { callProvider(DailyProvider(), ["all", "likes"], $0) },
    "html": readHTML,
    "image-header": readImageHeader,
    "image-message": readImageMessage,
    "immich": { callProvider(ImmichProvider(), immichSources, $0, server: "photos.example") },
    "link-header": readLinkHeader,
    "manifest": readManifest,
    "mastodon": { callProvider(MastodonProvider(), ["home", "tag:a"], $0) },
    "message": readMessage,
    "nextcloud": {
        callProvider(NextcloudProvider(), nextcloudSources, $0, server: "cloud.example/a")
    },
    "plugin-message": readPluginMessage,
    "redirect": readRedirect,
    "response-head": readResponseHead,
    "text": readText,
    "token": readToken,
    "unsplash": { callProvider(UnsplashProvider(), ["editorial", "search:a"], $0) },
    "xml": readXML,
]

private let immichSources = [
    "all", "likes", "memories", "search:a", "album:00000000-0000-4000-8000-000000000001",
]

private let nextcloudSources = ["all", "likes", "memories", "album:a", "shared:a"]

/// Parses a document. Elements and texts are limited.
@MainActor private func readXML(_ bytes: [UInt8]) {
    guard let root = try? XMLDocument.parse(bytes) else { return }
    func check(_ element: XMLElement, _ depth: Int) {
        precondition(depth <= XMLLimits().depth)
        precondition(element.text.utf8.count <= 3 * XMLLimits().textBytes)
        let escaped = "<a>\(element.text.escapedForXML)</a>"
        precondition((try? XMLDocument.parse(Array(escaped.utf8)))?.text == element.text)
        for child in element.children { check(child, depth + 1) }
    }
    check(root, 1)
}

@MainActor private func readConfiguration(_ bytes: [UInt8]) {
    let before = KeyFile(String(decoding: bytes, as: UTF8.self))
    let changed = KeyFile.setting("a value", for: "Key", in: "Provider fuzzer", of: bytes)
    // The changed file can be parsed, and other groups are unchanged.
    let after = KeyFile(String(decoding: changed, as: UTF8.self))
    precondition(after.groups["Provider fuzzer"]?["Key"] == "a value")
    for (group, values) in before.groups where group != "Provider fuzzer" {
        precondition(after.groups[group] == values)
    }
}

@MainActor private func readCursor(_ bytes: [UInt8]) {
    let text = String(decoding: bytes, as: UTF8.self)
    guard let position = try? FeedPosition(parsing: text) else { return }
    precondition((try? FeedPosition(parsing: position.text)) == position)
}

@MainActor private func readLinkHeader(_ bytes: [UInt8]) {
    let values = String(decoding: bytes, as: UTF8.self).split(separator: "\n").map(String.init)
    for relation in ["next", "prev", ""] { _ = LinkHeader.target(relation, in: values) }
}

/// Parses a D-Bus message, whose types are known only at run time.
@MainActor private func readMessage(_ bytes: [UInt8]) {
    var error = CDBus.DBusError()
    dbus_error_init(&error)
    defer { dbus_error_free(&error) }
    let raw = bytes.withUnsafeBytes {
        dbus_message_demarshal(
            $0.baseAddress?.assumingMemoryBound(to: CChar.self), Int32($0.count), &error)
    }
    guard let raw else { return }
    let message = BusMessage(owning: raw)
    _ = (message.kind, message.path, message.interface, message.member, message.errorName)
    let options: [String: Variant]? = try? message.read()
    let login: (String, [String: Variant])? = try? message.read()
    let page: (String, String, UInt32)? = try? message.read()
    _ = (options, login, page, message.errorReply)
}

@MainActor private func readRedirect(_ bytes: [UInt8]) {
    if let head = RequestHead(bytes), head.refusal(by: "127.0.0.1:43117") == nil,
        let parameters = RedirectParameters(query: head.query)
    {
        _ = RedirectAnswer(parameters, from: redirectService)
    }
    _ = try? RedirectAnswer(
        pasted: String(decoding: bytes, as: UTF8.self), state: Secret("state"),
        redirectAddress: "http://127.0.0.1:43117/callback", from: redirectService)
}

private let redirectService = OAuthDescription(
    authorizationURL: "https://example.org/authorize", tokenURL: "https://example.org/token",
    scopes: [], tokenOrigins: [])

@MainActor private func readResponseHead(_ bytes: [UInt8]) {
    var head = ResponseHead()
    for line in bytes.split(separator: 0x0a) {
        guard (try? line.withUnsafeBytes { try head.receive($0, Limits()) }) != nil else { return }
    }
    let response = HTTPResponse(status: head.status, headers: head.headers, url: "")
    _ = (head.bodyLength, response.retryAfter(now: Timestamp(secondsSince1970: 1_700_000_000)))
}

@MainActor private func readText(_ bytes: [UInt8]) {
    let text = String(decoding: bytes, as: UTF8.self)
    precondition((ServiceText.line(text)?.utf8.count ?? 0) <= 16 << 10)
    precondition((ServiceText.paragraphs(text)?.utf8.count ?? 0) <= 16 << 10)
    _ = Timestamp(rfc3339: text)
    precondition(URLEncoding.unescape(Substring(URLEncoding.escape(text))) == text)
    if let address = ProviderKit.WebAddress(text) {
        precondition(ProviderKit.WebAddress(address.text) == address)
    }
    if let address = IPAddress(text) { _ = (address.isPublic, address.isLoopback) }
    _ = ImageFormat(prefix: bytes)
}

@MainActor private func readToken(_ bytes: [UInt8]) {
    let now = Timestamp(secondsSince1970: 1_700_000_000)
    if let token = try? OAuthToken(bytes, obtained: now, requestedScopes: []) {
        precondition(OAuthToken(encoded: token.encoded) != nil)
    }
    _ = OAuthToken(encoded: Secret(bytes))
}
