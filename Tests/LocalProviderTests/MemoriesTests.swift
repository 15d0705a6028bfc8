import EngineModel
import Glibc
import ImageMetadata
import ProviderKit
import Synchronization
import TestSupport
import Testing

@testable import LocalProvider

/// The source `memories`.
@Suite(.timeLimit(.minutes(10))) struct MemoriesTests {
    @Test func `memories are the photos of this day in years before, newest first`() async throws {
        let fixture = try await MemoriesFixture.examined(
            [
                ("old.jpg", "1999-11-22 08:00"), ("b.jpg", "2024-11-22 09:00"),
                ("a.jpg", "2024-11-22 10:00"), ("x/last.jpg", "2025-11-22 00:00"),
                ("late.jpg", "2023-11-22 23:59"), ("today.jpg", "2026-11-22 07:00"),
                ("future.jpg", "2030-11-22 07:00"), ("before.jpg", "2024-11-21 23:59"),
                ("after.jpg", "2024-11-23 00:00"), ("month.jpg", "2024-10-22"),
                ("undated.jpg", nil),
            ], today: "2026-11-22")
        let expected = ["last", "a", "b", "late", "old"]
        #expect(try await fixture.titles() == expected)
        for size in 1...3 { #expect(try await fixture.titles(pageSize: size) == expected) }
        let sources = try await fixture.photos.session.sources()
        #expect(sources.map(\.id.text) == ["all", "likes", "memories", "album:x"])
        let source = sources[2]
        #expect((source.kind, source.count) == (.feed, 5))
        #expect(source.cover == (try await fixture.page().photos.first?.id))
        #expect(try await fixture.photos.session.hasSource(.memories))
        // The other sources are ordered by the time of capture, or else by that of the file, which is in 1970. A time
        // in the future is unknown.
        #expect(
            try await fixture.photos.titles() == [
                "today", "last", "after", "a", "b", "before", "month", "late", "old", "undated",
                "future",
            ])
    }

    @Test func `an empty source of memories is listed`() async throws {
        let fixture = try await MemoriesFixture.examined([("a.jpg", nil)], today: "2026-11-22")
        let source = try await fixture.photos.session.sources()
            .first { $0.id == .memories }
        #expect(source?.count == 0)
        #expect(source?.cover == nil)
        let page = try await fixture.page()
        #expect(page.photos.isEmpty && page.next == nil)
        #expect(try await fixture.photos.session.refresh(.memories) == 0)
        #expect(fixture.photos.provider.info.capabilities.contains(.memories))
    }

    @Test(
        arguments: [
            ("2026-02-28", ["l24", "c23", "l20"]), ("2026-02-27", []), ("2026-03-01", ["m24"]),
            ("2028-02-28", ["c23"]), ("2028-02-29", ["l24", "l20"]), ("2024-02-29", ["l20"]),
            ("2100-02-28", ["l24", "c23", "l20"]),
        ] as [(String, [String])])
    func `leap days are 28 February in common years`(today: String, titles: [String]) async throws {
        let fixture = try await MemoriesFixture.examined(
            [
                ("l20.jpg", "2020-02-29"), ("c23.jpg", "2023-02-28"), ("l24.jpg", "2024-02-29"),
                ("m24.jpg", "2024-03-01"),
            ], today: today)
        for size in [1, 2, 100] { #expect(try await fixture.titles(pageSize: size) == titles) }
        let source = try await fixture.photos.session.sources()[2]
        #expect(source.count == titles.count)
    }

    @Test func `the date is that of the camera, the order that of the moments`() async throws {
        let fixture = try MemoriesFixture(
            [("tokyo.jpg", nil), ("paris.jpg", nil)], today: "2026-11-22")
        // Both clocks show 22 November, in Tokyo nine hours ahead of UTC.
        var tokyo = MemoriesFixture.facts("2024-11-22 07:00")
        tokyo.clockOffset = 9 * 3600
        let paris = MemoriesFixture.facts("2024-11-22 05:00")
        fixture.images.facts.update { $0 = ["tokyo.jpg": tokyo, "paris.jpg": paris] }
        try await fixture.photos.examine()
        #expect(try await fixture.titles() == ["paris", "tokyo"])
        try fixture.setToday("2026-11-21")
        #expect(try await fixture.titles() == [])
    }

    // MARK: Paging

    @Test func `a walk continues with its photos after midnight and a restart`() async throws {
        let dates = [
            ("a.jpg", "2020-11-22"), ("b.jpg", "2021-11-22"), ("c.jpg", "2022-11-22"),
            ("d.jpg", "2024-11-23"),
        ]
        let fixture = try await MemoriesFixture.examined(dates, today: "2026-11-22")
        let first = try await fixture.page()
        #expect(first.photos.map(\.title) == ["c"])
        try fixture.setToday("2026-11-23")
        let second = try await fixture.page(first.next)
        #expect(second.photos.map(\.title) == ["b"])
        #expect(try await fixture.titles() == ["d"])
        fixture.photos.session.close()
        let next = try MemoriesFixture(dates, today: "2026-11-24", fixture.photos.directory)
        let third = try await next.page(second.next)
        #expect(third.photos.map(\.title) == ["a"])
        #expect(third.next == nil)
    }

    @Test func `a walk returns each photo once while dates of capture change`() async throws {
        let dates = (100..<160).map { ("\($0).jpg", "2024-11-22 10:\($0 - 100)") }
        let fixture = try await MemoriesFixture.examined(dates, today: "2026-11-22")
        let initial = Set(try await fixture.photos.photos(.memories).map(\.id))
        #expect(initial.count == 60)
        let first = try await fixture.page(count: 15)
        var walked = first.photos
        var cursor = first.next
        var round = 0
        while let position = cursor {
            // A photo moves to the bottom, another to the top, and one loses its date for a while.
            let (down, up) = (155 - round, 105 + round)
            try await fixture.redate("\(down).jpg", "2010-11-22", seconds: 2_000_000 + round)
            try await fixture.redate("\(up).jpg", "2025-11-22", seconds: 500 + round)
            try await fixture.redate("120.jpg", nil, seconds: 3_000_000 + round)
            try await fixture.redate("120.jpg", "2011-11-22", seconds: 3_000_500 + round)
            try fixture.photos.add("\(round).jpg", seconds: 4_000_000)
            fixture.images.facts.update { [round] in
                $0["/\(round).jpg"] = MemoriesFixture.facts("2025-11-22")
            }
            _ = try await fixture.photos.session.refresh(.all)
            let page = try await fixture.page(position, count: 15)
            #expect(!page.photos.isEmpty)
            walked += page.photos
            cursor = page.next
            round += 1
        }
        #expect(round >= 3)
        let ids = walked.map(\.id).filter(initial.contains)
        #expect(Set(ids).count == ids.count)
        #expect(Set(ids) == initial)
        #expect(Set(walked.map(\.id)).count == walked.count)
    }

    @Test func `a photo stays in the source until its changed file is read`() async throws {
        let fixture = try await MemoriesFixture.examined(
            [("a.jpg", "2024-11-22"), ("b.jpg", "2023-11-22")], today: "2026-11-22")
        fixture.images.isHeld.update { $0 = true }
        PhotosFixture.touch(fixture.photos.path("a.jpg"), seconds: 5_000_000)
        _ = try await fixture.photos.session.refresh(.all)
        #expect(try await fixture.titles() == ["a", "b"])
        fixture.images.isHeld.update { $0 = false }
        try await fixture.photos.examine()
        #expect(try await fixture.titles() == ["a", "b"])
        #expect(fixture.updates == [1, 1] || fixture.updates == [2])
    }

    @Test(arguments: [
        "1.2.0", "2026-11-22.1.2", "2026-11-22.1.2.3.4", "2026-02-29.1.2.0", "x.1.2.0", "0.1.2.0",
        "", "-2026-11-22.1.2.0", "20261-11-22.1.2.0",
    ])
    func `a malformed cursor of memories is rejected`(cursor: String) async throws {
        let fixture = try await MemoriesFixture.examined([("a.jpg", nil)], today: "2026-11-22")
        await #expect(throws: ProviderError.invalidArgument("The cursor is malformed.")) {
            try await fixture.page(cursor)
        }
    }

    @Test func `memories are found by an index`() throws {
        let today = try MemoriesFixture.date("2026-11-22")
        let queries = [PictureIndex.photosQuery(.memories(today)), PictureIndex.countOfDay]
        for query in queries {
            let plan = try PictureIndexTests.plan(query)
            #expect(plan.contains("SEARCH file USING"), "\(plan)")
            #expect(plan.contains("file_by_day (day=?"), "\(plan)")
        }
    }

    // MARK: Changes

    @Test func `dates of capture that become known are reported`() async throws {
        let fixture = try await MemoriesFixture.examined(
            [("a.jpg", "2024-11-22"), ("b.jpg", "2024-11-23")], today: "2026-11-22")
        try await fixture.updated([1])
        try await fixture.redate("b.jpg", "2020-11-22", seconds: 2_000_000)
        try await fixture.updated([1, 1])
        try await fixture.redate("a.jpg", nil, seconds: 2_000_001)
        try await fixture.updated([1, 1, 0])
        try await fixture.redate("a.jpg", "2020-11-21", seconds: 2_000_002)
        #expect(fixture.updates == [1, 1, 0])
    }

    @Test func `a watched source changes at midnight with one timer`() async throws {
        let fixture = try await MemoriesFixture.examined(
            [("a.jpg", "2024-11-23"), ("b.jpg", "2023-11-23"), ("c.jpg", "2023-11-25")],
            today: "2026-11-22")
        let session = fixture.photos.session
        session.setWatched(true)
        session.setWatched(true)
        let other = try PhotosFixture.session("bob", of: fixture.photos.provider)
        other.setWatched(true)
        try await fixture.pass("2026-11-23")
        try await fixture.updated([2])
        #expect(try await fixture.titles() == ["a", "b"])
        try await fixture.pass("2026-11-24")
        try await fixture.updated([2, 0])
        try await fixture.pass("2026-11-25")
        try await fixture.updated([2, 0, 1])
        // Each pause had one timer.
        let deadlines = fixture.clock.sleepers.value.map(\.offset)
        #expect((1...3).allSatisfy { day in deadlines.count { $0 == .seconds(600 * day) } == 1 })
        session.setWatched(false)
        #expect(session.folder.hasTimer)
        other.close()
        #expect(!session.folder.hasTimer)
    }

    @Test func `no timer runs while the source is not watched`() async throws {
        let fixture = try await MemoriesFixture.examined(
            [("a.jpg", "2024-11-23")], today: "2026-11-22")
        let folder = fixture.photos.session.folder
        #expect(try await fixture.titles() == [])
        #expect(!folder.hasTimer)
        fixture.photos.session.setWatched(true)
        #expect(folder.hasTimer)
        fixture.photos.session.setWatched(false)
        #expect(!folder.hasTimer)
        try fixture.setToday("2026-11-23")
        #expect(try await fixture.titles() == ["a"])
        #expect(!folder.hasTimer)
        #expect(fixture.updates == [])
    }

    @Test func `a clock or time zone that was changed is detected within minutes`() async throws {
        let fixture = try await MemoriesFixture.examined(
            [("a.jpg", "2024-11-22"), ("b.jpg", "2024-11-23")], today: "2026-11-22")
        try await fixture.updated([1])
        let noon = (date: try MemoriesFixture.date("2026-11-22"), rest: Duration.seconds(43_200))
        fixture.today.update { $0 = noon }
        fixture.photos.session.setWatched(true)
        // The date changes long before the expected midnight.
        try await fixture.pass("2026-11-23", after: PictureFolder.longestPause)
        try await fixture.updated([1, 1])
        // The clock is set back.
        try await fixture.pass("2026-11-22")
        try await fixture.updated([1, 1, 1])
    }

    @Test func `a change that a reader detects first is reported to watchers`() async throws {
        let fixture = try await MemoriesFixture.examined(
            [("b.jpg", "2024-11-23")], today: "2026-11-22")
        fixture.photos.session.setWatched(true)
        #expect(try await fixture.titles() == [])
        try fixture.setToday("2026-11-23")
        #expect(try await fixture.titles() == ["b"])
        try await fixture.updated([1])
        try fixture.setToday("2026-11-24")
        fixture.photos.session.clockChanged()
        try await fixture.updated([1, 0])
    }

    @Test func `a date without other photos is not reported`() async throws {
        let fixture = try await MemoriesFixture.examined(
            [("a.jpg", "2014-11-22"), ("b.jpg", "2017-11-22")], today: "2016-11-20")
        // The years are in the past, because a time of capture in the future is unknown.
        let folder = fixture.photos.session.folder
        func change(_ before: String, _ after: String) async throws {
            await folder.dateChanged(
                from: try MemoriesFixture.date(before), to: try MemoriesFixture.date(after))
        }
        try await change("2016-11-20", "2016-11-21")
        try await change("2016-11-22", "2017-11-22")
        // The changes that follow are reported, so the first ones were not.
        try await change("2016-11-21", "2016-11-22")
        try await change("2017-11-22", "2018-11-22")
        try await fixture.updated([1, 1])
    }
}

extension MemoriesFixture {
    /// Waits until the timer runs, and lets the pause pass, with another date at its end.
    fileprivate func pass(_ date: String, after pause: Duration = .seconds(600)) async throws {
        let deadline = clock.now.advanced(by: pause)
        try await clock.sleepers.wait { $0.contains(deadline) ? true : nil }
        try setToday(date)
        clock.advance(by: pause)
    }
}

extension PictureFolder {
    /// True if the timer of the source `memories` runs.
    fileprivate var hasTimer: Bool { state.withLock { $0.timer != nil } }
}

/// The calendar of the computer, in a process with its own time zone.
struct PresentDayTests {
    @Test func `the rest of the day follows the time zone`() async {
        await #expect(processExitsWith: .success) {
            func check(_ zone: String, _ seconds: Int64, _ date: [Int], _ rest: Int) {
                setenv("TZ", zone, 1)
                let day = CalendarDate.present(at: Timestamp(secondsSince1970: seconds))
                #expect([day.date.year, day.date.month, day.date.day] == date)
                #expect(day.rest == .seconds(rest))
                let isEqual = [day.date.year, day.date.month, day.date.day] == date
                guard isEqual, day.rest == .seconds(rest) else { exit(EXIT_FAILURE) }
            }
            // 2026-11-22 23:30 UTC
            let evening: Int64 = 1_795_390_200
            check("UTC0", evening, [2026, 11, 22], 1800)
            check("JST-9", evening, [2026, 11, 23], 15 * 3600 + 1800)
            check("EST5", evening, [2026, 11, 22], 5 * 3600 + 1800)
            // The day on which daylight saving time begins has 23 hours, the one on which it ends 25.
            let berlin = "CET-1CEST,M3.5.0,M10.5.0/3"
            check(berlin, 1_774_738_800, [2026, 3, 29], 23 * 3600)
            check(berlin, 1_792_879_200, [2026, 10, 25], 25 * 3600)
            check(berlin, 1_792_969_199, [2026, 10, 25], 1)
        }
    }
}
