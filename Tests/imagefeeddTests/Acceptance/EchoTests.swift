import Contract
import Foundation
import ServiceSimulator
import TestSupport
import Testing
import Web

/// Services that repeat the secrets which they were sent, in errors and in successful responses.
@Suite(.privateBus, .privateKeyring, .endsDaemons, .timeLimit(.minutes(10))) @MainActor
struct EchoTests {
    /// The forms in which a service repeats a text.
    nonisolated private static let forms: [@Sendable (String) -> String] = [
        { $0 },
        { $0.utf8.map { "%" + String(format: "%02x", $0) }.joined() },
        { $0.utf8.map { "&#\($0);" }.joined() },
        { $0.utf8.map { "\\u" + String(format: "%04x", $0) }.joined() },
        { Data($0.utf8).base64EncodedString() },
        { $0.map { String($0) }.joined(separator: " ") },
    ]

    /// Repeats the credentials and the body of a request in each member that a service uses for messages.
    nonisolated private static func echo(
        _ status: Int, _ form: @escaping @Sendable (String) -> String
    ) -> Fault {
        .answer { request in
            var sent = request.headers.filter {
                ["authorization", "x-api-key"].contains($0.name.lowercased())
            }
            .map(\.value)
            sent += sent.flatMap { $0.split(separator: " ").map(String.init) }
            sent.append(String(decoding: request.body, as: UTF8.self))
            sent += request.fields.fields.map(\.value)
            let text = sent.filter { !$0.isEmpty }.map(form).joined(separator: ", ")
            let isXML = ["PROPFIND", "REPORT", "SEARCH", "PROPPATCH"].contains(request.method)
            guard !isXML else {
                return Reply(
                    status, headers: [("Content-Type", "application/xml; charset=utf-8")],
                    body: Array(
                        """
                        <?xml version="1.0"?><d:error xmlns:d="DAV:" xmlns:s="http://sabredav.org/ns">\
                        <s:exception>Bad</s:exception><s:message>bad key \(text)</s:message></d:error>
                        """.utf8))
            }
            let message = "\"bad key \(text.replacing("\"", with: "'"))\""
            let members = ["error", "error_description", "message", "errors", "title", "name"]
                .map { "\"\($0)\":\($0 == "errors" ? "[\(message)]" : message)" }
            return Reply(
                status,
                headers: [("Content-Type", "application/json"), ("X-Error", text)],
                body: Array("{\(members.joined(separator: ","))}".utf8))
        }
    }

    @Test(arguments: TestedProvider.withSecret.filter { !TestedProvider.dialects.contains($0) })
    func `no secret that a service repeats is published`(provider: TestedProvider) async throws {
        let recording = try await BusRecording()
        let (fixture, ada, ids) = try await readFeed(of: provider.secretFixture())
        let service = fixture.service
        var number = 0
        for status in [400, 403, 409, 422, 500, 200] {
            for form in Self.forms {
                number += 1
                // Each endpoint with each form and each status would take minutes.
                for (index, endpoint) in [Endpoint.feed, .like, .user, .images].enumerated()
                where (number + index) % 6 == 0 {
                    let pattern = fixture.pattern(endpoint)
                    service.fail(pattern, Self.echo(status, form))
                    do {
                        switch endpoint {
                        case .feed: _ = try await ada.refresh("")
                        case .like: _ = try await ada.toggleLike(ids[number % ids.count])
                        case .user: try await ada.refresh()
                        default: _ = try await ada.imagePath(ids[number % ids.count], size: "full")
                        }
                    } catch {}
                    service.recover(pattern)
                }
            }
        }
        var codes: Set<String> = []
        if let browser = fixture as? any BrowserFixture {
            for (status, form) in [(400, 0), (401, 1), (403, 5), (500, 4), (200, 0)] {
                let (login, url) = try await browser.startLogin()
                service.fail(fixture.pattern(.token), Self.echo(status, Self.forms[form]))
                async let failure = errorReply { _ = try await login.wait() }
                let redirect = try await service.approve(url, as: "bob")
                #expect(await failure != nil)
                service.recover(fixture.pattern(.token))
                let page = String(decoding: redirect.response?.body ?? [], as: UTF8.self)
                for secret in browser.clientSecrets { #expect(!page.contains(secret)) }
                for request in service.requests(fixture.pattern(.token)) {
                    codes.formUnion(
                        ["code", "code_verifier", "refresh_token"].compactMap { request.fields[$0] }
                    )
                }
            }
            codes.formUnion(browser.clientSecrets)
            codes.remove("none")
        }
        service.fail(fixture.pattern(.revocation), Self.echo(400, Self.forms[0]))
        _ = try? await ada.logout()

        var secrets = fixture.tokens.union(codes)
        for token in fixture.tokens {
            guard
                let text = Data(base64Encoded: token).flatMap({ String(data: $0, encoding: .utf8) }
                ),
                let colon = text.firstIndex(of: ":")
            else { continue }
            secrets.insert(String(text[text.index(after: colon)...]))
        }
        #expect(!secrets.isEmpty)
        let (bus, log) = try await fixture.output(recording)
        #expect(bus.contains(ids[0]))
        for secret in secrets {
            let repeated = RepeatedSecrets([Secret(secret)], inParts: true)
            let places = (repeated.occur(in: bus.utf8), repeated.occur(in: log.utf8))
            #expect(places == (false, false), "\(secret)")
        }
        #expect(try await files(holding: Array(secrets)) == [])
    }
}
