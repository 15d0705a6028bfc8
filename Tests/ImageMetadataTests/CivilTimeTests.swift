import Testing

@testable import ImageMetadata

struct CivilTimeTests {
    @Test(arguments: [
        ("1970:01:01 00:00:00", 0), ("2024:02:29 23:59:59", 1_709_251_199),
        ("1999:12:31 12:00:00", 946_641_600), ("1800:03:01 00:00:00", -5_359_564_800),
        ("2100:03:01 00:00:00", 4_107_542_400),
    ])
    func `a time is converted to seconds since 1970`(text: String, seconds: Int64) {
        #expect(CivilTime(Array(text.utf8), offset: nil)?.seconds == seconds)
    }

    @Test(arguments: [
        "", "0000:00:00 00:00:00", "    :  :     :  :  ", "2023:02:29 00:00:00",
        "2024:13:01 00:00:00", "2024:00:01 00:00:00", "2024:01:01 24:00:00",
        "2024-01-01 00:00:00", "2024:01:01T00:00:00", "2024:01:01 00:00:00Z",
        "+024:01:01 00:00:00", "2024:01:01 00:00",
    ])
    func `an invalid time is rejected`(text: String) {
        #expect(CivilTime(Array(text.utf8), offset: nil) == nil)
    }

    @Test(arguments: [
        ("+01:00", 3600), ("-09:30", -34_200), ("+00:00", 0), ("+15:00", nil), ("01:00", nil),
        ("Z", nil), ("+1:00x", nil),
    ])
    func `an invalid offset counts as missing`(text: String, seconds: Int?) {
        let time = CivilTime(Array("2024:01:01 00:00:00".utf8), offset: Array(text.utf8))
        #expect(time?.offset == seconds && time != nil)
    }

    @Test(arguments: [("25", "25"), ("", ""), ("2 5", ""), ("1234567890", "")])
    func `the fraction of a second is read`(text: String, fraction: String) {
        let time = CivilTime(
            Array("2024:01:01 00:00:00".utf8), offset: nil, fraction: Array(text.utf8))
        #expect(time?.fraction == fraction)
    }
}
