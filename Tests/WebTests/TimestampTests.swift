import Testing
import Web

struct TimestampTests {
    @Test func `the time of another day has its date`() {
        let now = Timestamp.now
        #expect(now.localClock(now: now)?.count == 5)
        #expect((now + .seconds(2 * 86_400)).localClock(now: now)?.count == 16)
    }

    @Test(arguments: [
        ("2021-04-11T10:31:09-04:00", 1_618_151_469), ("2023-06-21T15:14:49Z", 1_687_360_489),
        ("2023-06-21t15:14:49.123456z", 1_687_360_489), ("1969-12-31T23:59:59Z", -1),
        ("1970-01-01T02:00:00+02:00", 0), ("2016-12-31T23:59:60Z", 1_483_228_800),
        ("2024-02-29T00:00:00Z", 1_709_164_800),
    ])
    func `dates with an offset and with Z are parsed`(text: String, seconds: Int64) {
        #expect(Timestamp(rfc3339: text)?.secondsSince1970 == seconds)
    }

    @Test(arguments: [
        "2021-04-11T10:31:09Z", "1969-12-31T23:59:59Z", "2024-02-29T00:00:00Z",
        "0812-01-02T03:04:05Z",
    ])
    func `a time has the text that it is parsed from`(text: String) {
        #expect(Timestamp(rfc3339: text)?.rfc3339 == text)
    }

    @Test(arguments: [
        "", "yesterday", "2021-04-11", "2021-04-11T10:31:09", "2021-13-11T10:31:09Z",
        "2021-02-30T10:31:09Z", "2021-04-11T24:31:09Z", "2021-04-11T10:31:09Zx",
        "2021-04-11T10:31:09.Z", "2021-04-11T10:31:09+0400", "2021-04-11T10:31:09+99:00",
        "+021-04-11T10:31:09Z", "２０２１-04-11T10:31:09Z", "2021-04-11T10:31:61Z",
    ])
    func `a malformed date is rejected`(text: String) {
        #expect(Timestamp(rfc3339: text) == nil)
    }
}
