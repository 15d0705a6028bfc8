import ProviderKit
import Testing

@testable import DailyProvider

/// Tests of days and of the IDs of pictures.
struct DayTests {
    @Test(arguments: [
        (Int64(1_099_267_200), "2004-11-01"), (1_795_305_599, "2026-11-21"),
        (1_795_305_600, "2026-11-22"), (1_795_391_999, "2026-11-22"), (1_709_164_800, "2024-02-29"),
        (951_782_400, "2000-02-29"),
    ])
    func `a time is on its day in UTC`(seconds: Int64, text: String) {
        #expect(Day(Timestamp(secondsSince1970: seconds)).text == text)
    }

    @Test func `each day has a text that denotes it`() throws {
        for day in (Day.first.number..<40_000).map(Day.init(number:)) {
            #expect(Day(day.text) == day)
        }
        #expect(Day.first.text == "2004-11-01")
    }

    @Test func `a day begins at midnight in the time zone of this computer`() throws {
        for text in ["2026-11-23", "2026-07-04", "2024-02-29"] {
            let start = try #require(Day(text)).localStart
            #expect(CalendarDate(local: start).text == text)
            #expect(CalendarDate(local: start + .seconds(-1)).text != text)
        }
    }

    @Test(arguments: [
        "", "2026", "2026-11", "2026-02-29", "2026-13-01", "2004-10-31", "2026-11-2", "26-011-22",
        "+026-11-22", "2026-11-22 ", "２０26-11-22", "2026/11/22",
    ])
    func `other texts are no days`(text: String) { #expect(Day(text) == nil) }

    @Test(arguments: [
        "photo", "2026-11-22", "2026-11-22-", "2026-11-22-0", "2026-11-22-01", "2026-11-22--1",
        "2026-11-22-12x", "2026-11-22_12", "2026-11-31-12", "2026-11-22-99999999999999999999",
    ])
    func `other texts are no IDs of pictures`(text: String) {
        #expect(PhotoID(text).picture == nil)
    }

    @Test func `an ID names the day and the page`() throws {
        let id = PhotoID("2026-11-22-12345")
        let picture = try #require(id.picture)
        #expect(picture.day.text == "2026-11-22" && picture.page == 12345)
        #expect(PhotoID(day: picture.day, page: picture.page) == id)
    }
}
