import Testing

@testable import Web

struct CalendarDateTests {
    @Test(
        arguments: [
            (0, 1970, 1, 1), (86_399, 1970, 1, 1), (86_400, 1970, 1, 2), (-1, 1969, 12, 31),
            (-86_400, 1969, 12, 31), (-86_401, 1969, 12, 30), (951_782_400, 2000, 2, 29),
            (951_868_800, 2000, 3, 1), (1_709_208_000, 2024, 2, 29), (1_735_689_599, 2024, 12, 31),
            (-2_203_891_200, 1900, 3, 1), (-2_203_891_201, 1900, 2, 28),
            (4_107_542_400, 2100, 3, 1),
            (-62_135_596_800, 1, 1, 1), (-62_135_596_801, 0, 12, 31),
        ] as [(Int64, Int, Int, Int)])
    func `the date of a clock`(seconds: Int64, year: Int, month: Int, day: Int) {
        #expect(
            CalendarDate(clockSeconds: seconds) == CalendarDate(year: year, month: month, day: day))
    }

    @Test func `each day of 800 years follows the one before`() {
        var seconds: Int64 = -11_676_096_000
        var previous = CalendarDate(clockSeconds: seconds)
        for _ in 0..<292_194 {
            seconds += 86_400
            let date = CalendarDate(clockSeconds: seconds)
            let isNextDay = date.month == previous.month && date.day == previous.day + 1
            let isNextMonth = date.day == 1 && date.month == previous.month % 12 + 1
            guard isNextDay || isNextMonth,
                CalendarDate(year: date.year, month: date.month, day: date.day) == date,
                Int64(date.dayNumber) * 86_400 == seconds
            else {
                Issue.record("\(previous) \(date)")
                return
            }
            previous = date
        }
    }

    @Test(arguments: [(2026, 2, 29), (2026, 13, 1), (2026, 0, 1), (2026, 4, 31), (2026, 1, 0)])
    func `a date that does not exist is rejected`(year: Int, month: Int, day: Int) {
        #expect(CalendarDate(year: year, month: month, day: day) == nil)
    }
}
