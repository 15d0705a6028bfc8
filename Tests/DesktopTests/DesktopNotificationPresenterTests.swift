import DBus
import EngineModel
import ProviderKit
import TestSupport
import Testing

@testable import Desktop
@testable import EngineCore

/// Tests of the calls to a notification service and of its signals.
@Suite(.privateBus, .timeLimit(.minutes(10))) @MainActor
struct DesktopNotificationPresenterTests {
    private let connection: BusConnection
    private let board: DesktopNotificationPresenter
    /// The events, as text.
    private let told = Observed<[String]>()

    init() throws {
        connection = try PrivateBus.current.connect()
        board = DesktopNotificationPresenter(connection)
        board.onEvent = { [told] event in
            switch event {
            case .invoked(let action, let number, let token):
                told.append("\(action) \(number) \(token)")
            case .expired(let number): told.append("expired \(number)")
            case .dismissed(let number): told.append("dismissed \(number)")
            case .lost(let numbers):
                for number in numbers.sorted() { told.append("lost \(number)") }
            case .serviceAppeared: told.append("appeared")
            }
        }
    }

    private let notice = NotificationContent(
        title: "A like was not sent", text: "1 < 2 & \"so\" on.", actions: [.login, .retry],
        remedies: [
            IssueRemedy(
                .retry, .like(PhotoID("a"), isWanted: true, AccountID(stored: "service_ada")))
        ], category: "transfer.error")

    @Test func `a notification uses all capabilities of the service`() async throws {
        let service = try await FakeNotifications()
        #expect(await board.show(notice, as: 7))
        let shown = try #require(service.shown.value.first)
        #expect(shown.application == "Image Feed")
        #expect(shown.replaces == 0)
        #expect(shown.summary == "A like was not sent")
        #expect(shown.body == "1 &lt; 2 &amp; \"so\" on.")
        #expect(shown.actions == ["login", "Log in again", "retry", "Try again"])
        #expect(
            shown.hints == [
                "urgency": .byte(1), "category": .string("transfer.error"),
                "desktop-entry": .string("org.imagefeed.ImageFeed1"),
            ])
    }

    @Test func `a notification is replaced and withdrawn by its id`() async throws {
        let service = try await FakeNotifications(firstID: 41)
        #expect(await board.show(notice, as: 1))
        #expect(await board.show(notice, as: 2))
        #expect(await board.show(notice, as: 1))
        #expect(service.shown.value.map(\.id) == [41, 42, 41])
        #expect(service.shown.value.map(\.replaces) == [0, 0, 41])
        #expect(service.questions.value == 1)
        board.withdraw(1)
        board.withdraw(1)
        board.withdraw(9)
        _ = try await service.closed.elements(1)
        #expect(await board.show(notice, as: 1))
        #expect(service.shown.value.last?.replaces == 0)
        #expect(service.closed.value == [41])
    }

    @Test func `the text contains the command if there are no buttons`() async throws {
        let service = try await FakeNotifications(["body"])
        #expect(await board.show(notice, as: 1))
        let shown = try #require(service.shown.value.first)
        #expect(shown.actions.isEmpty)
        // Text is not escaped without markup.
        #expect(shown.body == "1 < 2 & \"so\" on. Run “imagefeedctl like service_ada/a”.")
    }

    @Test func `the text contains a command that needs a terminal also with buttons`()
        async throws
    {
        let service = try await FakeNotifications(["body", "actions"])
        let failed = NotificationContent(
            title: "Login failed", text: "No browser.", actions: [.login],
            remedies: [
                IssueRemedy(.login, .provider("one", server: ""), needsTerminal: true),
                IssueRemedy(.login, .provider("two", server: "")),
            ], category: "network.error")
        #expect(await board.show(failed, as: 1))
        #expect(service.shown.value.first?.body == "No browser. Run “imagefeedctl login one”.")
    }

    @Test func `each remedy with a command is phrased`() {
        let id = AccountID(stored: "service_ada")
        let account = IssueRemedy.Target.account(id, provider: "service")
        let commands: [(Remedy, IssueRemedy.Target, String?)] = [
            (.login, account, "login service --account service_ada"),
            (.login, .provider("service", server: ""), "login service"),
            (
                .login, .provider("service", server: "one.example"),
                "login service --server one.example"
            ),
            (.unlock, account, "refresh --account service_ada"),
            (.installKeyring, account, "refresh --account service_ada"),
            (.retry, account, "refresh --account service_ada"),
            (.retry, .like(PhotoID("a"), isWanted: false, id), "unlike service_ada/a"),
            (.freeSpace, account, nil),
        ]
        for (remedy, target, command) in commands {
            #expect(IssueRemedy(remedy, target).command == command.map { "imagefeedctl \($0)" })
        }
    }

    @Test func `the summary contains the text if there is no body`() async throws {
        let service = try await FakeNotifications([])
        #expect(await board.show(notice, as: 1))
        let shown = try #require(service.shown.value.first)
        #expect(shown.body.isEmpty)
        #expect(
            shown.summary
                == "A like was not sent: 1 < 2 & \"so\" on. Run “imagefeedctl like service_ada/a”.")
    }

    @Test func `long text is shortened, and control characters are removed`() async throws {
        let service = try await FakeNotifications()
        let strange = NotificationContent(
            title: "Strange", text: "a\0b\u{1b}[31m\n" + String(repeating: "ä", count: 5000),
            actions: [], remedies: [], category: "x")
        #expect(await board.show(strange, as: 1))
        let body = try #require(service.shown.value.first?.body)
        #expect(body.hasPrefix("ab[31m\nä"))
        #expect(body.hasSuffix("ä…"))
        #expect(body.utf8.count < 700)
    }

    @Test func `the events have the user's actions with the number of the notification`()
        async throws
    {
        let service = try await FakeNotifications(firstID: 10)
        #expect(await board.show(notice, as: 3))
        #expect(await board.show(notice, as: 4))
        service.invoke("retry", 10)
        service.invoke("login", 11, token: "front")
        service.invoke("default", 11)
        service.invoke("retry", 99)
        service.close(10, reason: 1)
        service.close(11, reason: 2)
        try await told.wait { $0.count >= 4 ? true : nil }
        #expect(
            told.value == ["retry 3 ", "login 4 front", "expired 3", "dismissed 4"])
        // An expired notification may be in a list; a dismissed one is gone.
        #expect(await board.show(notice, as: 3))
        #expect(await board.show(notice, as: 4))
        #expect(service.shown.value.suffix(2).map(\.replaces) == [10, 0])
    }

    @Test func `signals of other senders are ignored`() async throws {
        let service = try await FakeNotifications()
        #expect(await board.show(notice, as: 1))
        let stranger = try PrivateBus.current.connect()
        stranger.send(
            try BusMessage(
                .signal(
                    "/org/freedesktop/Notifications", "org.freedesktop.Notifications",
                    "ActionInvoked"), 1 as UInt32, "retry"))
        _ = try await stranger.owner(of: FakeNotifications.name)
        service.invoke("login", 1)
        try await told.wait { $0.isEmpty ? nil : true }
        #expect(told.value == ["login 1 "])
    }

    @Test func `notifications are shown when a service appears`() async throws {
        #expect(await !board.show(notice, as: 1))
        let service = try await FakeNotifications()
        try await told.wait { $0.isEmpty ? nil : true }
        #expect(told.value == ["appeared"])
        #expect(await board.show(notice, as: 1))
        #expect(service.shown.value.count == 1)
    }

    @Test func `a new service does not get the ids of the old one`() async throws {
        let old = try await FakeNotifications(firstID: 5)
        #expect(await board.show(notice, as: 1))
        try await old.stop()
        let new = try await FakeNotifications(["body"], firstID: 5)
        try await told.wait { $0.contains("appeared") ? true : nil }
        #expect(told.value == ["lost 1", "appeared"])
        // The id belongs to another notification now.
        new.invoke("retry", 5)
        board.withdraw(1)
        #expect(await board.show(notice, as: 1))
        #expect(new.shown.value.first?.replaces == 0)
        #expect(new.shown.value.first?.actions == [])
        #expect(new.closed.value == [])
        #expect(told.value == ["lost 1", "appeared"])
    }

    @Test(.timeLimit(.minutes(10))) func `a hanging service does not block the callers`()
        async throws
    {
        let service = try await FakeNotifications()
        service.isSilent.update { $0 = true }
        async let outcome = board.show(notice, as: 1)
        try await service.questions.wait { $0 == 1 ? true : nil }
        // Further calls do not wait either.
        board.withdraw(1)
        try await service.stop()
        service.isSilent.update { $0 = false }
        _ = await outcome
    }

    @Test func `disabled notifications are withdrawn and not shown`() async throws {
        let service = try await FakeNotifications()
        #expect(await board.show(notice, as: 1))
        board.isWanted = false
        try await service.closed.wait { $0 == [1] ? true : nil }
        #expect(await !board.show(notice, as: 1))
        #expect(service.shown.value.count == 1)
        board.isWanted = true
        #expect(told.value == ["lost 1", "appeared"])
        #expect(await board.show(notice, as: 1))
    }

    @Test func `the first notification starts the service`() async throws {
        let mark = try PrivateBus.current.directory.appending("started")
        try PrivateBus.current.addService(
            FakeNotifications.name, command: "/usr/bin/touch \(mark)")
        _ = DesktopNotificationPresenter(connection)
        _ = try await connection.owner(of: FakeNotifications.name)
        let listing = try PrivateBus.current.directory
        #expect(!listing.has("started"))
        #expect(await !board.show(notice, as: 1))
        #expect(listing.has("started"))
    }
}
