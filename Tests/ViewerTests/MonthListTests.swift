import Contract
import DBus
import Testing

@testable import Viewer

@MainActor @Suite struct MonthListTests {
    private let day: Int64 = 86_400
    /// The middle of June 2026, so that days before and after it are in this month in every time zone.
    private let june: Int64 = 1_781_524_800

    private func photo(_ created: Int64?, updated: Int64? = nil) throws -> Photo {
        var entries: [String: Variant] = ["id": .string("a"), "account": .objectPath("/a")]
        entries["created"] = created.map { .int64($0) }
        entries["updated"] = updated.map { .int64($0) }
        return try #require(Photo(entries))
    }

    @Test func `photos are grouped by month, in any order within a month`() throws {
        let dates = [
            june, june + day, june - 31 * day, june - 30 * day,
            june - 400 * day,
        ]
        var list = MonthList()
        for date in dates { #expect(list.append([try photo(date)])) }
        #expect(list.months.map(\.first) == [0, 2, 4])
        #expect(list.months.map(\.title) == ["June 2026", "May 2026", "May 2025"])
        #expect(list.month(of: 1)?.first == 0 && list.month(of: 3)?.first == 2)
        #expect(list.count == 5)
    }

    @Test func `the time of change orders photos that are not in the order of their dates`() throws
    {
        var list = MonthList()
        #expect(list.append([try photo(june - 400 * day, updated: june)]))
        #expect(!list.append([try photo(june, updated: june - 31 * day)]))
        #expect(list.months.map(\.title) == ["June 2026", "May 2026"])
        #expect(!list.append([try photo(june, updated: june)]))
        #expect(list.months.isEmpty)
    }

    @Test func `a photo with another date is valid only in its month`() throws {
        var list = MonthList()
        #expect(
            list.append([
                try photo(june, updated: june), try photo(june - 31 * day, updated: june),
            ]))
        #expect(list.isValid(try photo(june + day), at: 0))
        #expect(!list.isValid(try photo(june - 31 * day), at: 0))
        #expect(!list.isValid(try photo(nil), at: 1))
        #expect(MonthList().isValid(try photo(nil), at: 0))
    }

    @Test func `a photo without a date ends the groups`() throws {
        var list = MonthList()
        #expect(list.append([try photo(june)]))
        #expect(!list.append([try photo(nil)]))
        #expect(list.months.isEmpty)
    }

    @Test func `an exposure time is a fraction below half a second`() {
        let times = [0.004, 1.0 / 60, 0.3, 0.5, 1.3, 30].map(InfoPanel.exposure)
        #expect(times == ["1/250 s", "1/60 s", "1/3 s", "0.5 s", "1.3 s", "30 s"])
    }
}
