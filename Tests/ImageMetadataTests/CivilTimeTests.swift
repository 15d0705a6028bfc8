import Testing
import Web

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

    @Test(
        arguments: [
            ("2001-02-03 04:05:06", 14_706, nil), ("2001/02/03 04:05:06", 14_706, nil),
            ("2001-02-03T04:05:06", 14_706, nil), ("2001:02:03 04:05:06Z", 14_706, 0),
            ("2001:02:03 04:05:06+02:00", 14_706, 7200),
            ("2001:02:03 04:05:06 -0230", 14_706, -9000),
            ("2001-02-03T04:05:06.25+02:00", 14_706, 7200), ("2001:02:03 04:05", 14_700, nil),
            ("2001-02-03T04:05+02:00", 14_700, 7200), ("2001:02:03", 0, nil),
            ("2001:02:03 24:05:06", 306, nil), ("2001:02:03   :  :  ", 0, nil),
            ("2001:2:3 4:05:06", 14_706, nil), ("20010203T040506", 14_706, nil),
            ("2001.02.03 04.05.06", 14_706, nil), ("2001:02:03 04:05:06 and more", 14_706, nil),
            (" 2001:02:03 04:05:06", 14_706, nil), ("\"2001:02:03 04:05:06\"", 14_706, nil),
            ("2001: 2: 3  4: 5: 6", 14_706, nil), ("2001:2:3 4:5:6", 14_706, nil),
            ("2001:02:03\t04:05:06", 14_706, nil), ("\r\n2001:02:03 04:05:06", 14_706, nil),
            ("2001:02:03:04:05:06", 14_706, nil), ("2001-02-03T04:05-02:00", 14_700, -7200),
            ("2001:02:03 上午04:05:06", 14_706, nil), ("2001:02:03 下午04:05:06", 57_906, nil),
            ("2001:02:03 上午 12:05:06", 306, nil), ("2001:02:03 午後4:05:06", 57_906, nil),
            ("2001:02:03 오후 4:05:06", 57_906, nil), ("2001:02:03 PM 04:05:06", 57_906, nil),
            ("2001:02:03 04:05:06 pm", 57_906, nil), ("2001:02:03 12:05:06 AM", 306, nil),
            ("2001:02:03 04:05:06 下午", 57_906, nil), ("2001:02:03 4:05:06PM", 57_906, nil),
            ("2001:02:03 25:05:06", 0, nil), ("2001:02:03 04:05:06 America", 14_706, nil),
        ] as [(String, Int64, Int?)])
    func `the forms of other programs are read`(text: String, seconds: Int64, offset: Int?) {
        let time = CivilTime(Array(text.utf8))
        #expect(time?.seconds == 981_158_400 + seconds && time?.offset == offset)
        #expect(time?.fraction == (text.contains(".25") ? "25" : ""))
    }

    @Test(arguments: [
        "Sat, 3 Feb 2001 04:05:06 +0200", "3 Feb 2001 04:05:06 +0200",
        "2001-02-03T04:05:06+02:00", "Sat Feb  3 04:05:06 2001 +0200",
        "3 February 2001 04:05:06 +0200", "Sat, 3 Feb 01 04:05:06 +0200",
        "Saturday, 03-Feb-01 04:05:06 +0200", "03-Feb-2001 04:05:06+0200",
    ])
    func `the time of a PNG text is read`(text: String) {
        #expect(CivilTime(internetDate: text) == CivilTime(seconds: 981_173_106, offset: 7200))
        #expect(CivilTime(internetDate: "3 February 2001")?.seconds == 981_158_400)
        #expect(CivilTime(internetDate: "03-Feb-01")?.seconds == 981_158_400)
        let late = CivilTime(internetDate: "31-Dec-99 23:59:59 -0030")
        #expect((late?.seconds, late?.offset) == (946_684_799, -1800))
    }

    @Test(arguments: [
        ("UT", 0), ("UTC", 0), ("GMT", 0), ("EST", -5), ("EDT", -4), ("CST", -6), ("CDT", -5),
        ("MST", -7), ("MDT", -6), ("PST", -8), ("PDT", -7),
    ])
    func `the name of a zone in a PNG text is read`(zone: String, hours: Int) {
        let time = CivilTime(seconds: 981_173_106, offset: hours * 3600)
        #expect(CivilTime(internetDate: "Sat, 3 Feb 2001 04:05:06 \(zone)\n") == time)
        #expect(CivilTime(internetDate: "Sat Feb  3 04:05:06 \(zone) 2001") == time)
    }

    @Test(arguments: [
        ("IMG-20231128-WA0001.jpg", 0), ("PXL_20231128_101112123.jpg", 36_672),
        ("Screenshot_20231128-101112.png", 36_672),
        ("Screenshot_2023-11-28-10-11-12-345_com.app.jpg", 36_672),
        ("Screenshot from 2023-11-28 10-11-12.png", 36_672),
        ("Screenshot 2023-11-28 at 10.11.12.png", 36_672),
        ("Screenshot 2023-11-28 at 1.11.12\u{202f}PM.png", 47_472),
        ("WhatsApp Image 2023-11-28 at 10.11.12.jpeg", 36_672),
        ("2023-11-28 10.11.12.jpg", 36_672), ("20231128_101112.jpg", 36_672),
        ("20231128101112.jpg", 36_672), ("signal-2023-11-28-101112_002.jpeg", 36_672),
        ("photo_2023-11-28_10-11-12 (2).jpg", 36_672), ("IMG_20231128_0001.jpg", 0),
        ("00001 2023_11_28.jpg", 0), ("VID-20231128-WA0012 (1).jpg", 0),
        ("Bildschirmfoto 2023-11-28 um 10.11.12.png", 36_672),
        ("Capture d\u{2019}écran 2023-11-28 à 10.11.12.png", 36_672),
        ("Captura de pantalla 2023-11-28 a las 10.11.12.png", 36_672),
        ("Photo 2023-11-28, 10 11 12.jpg", 36_672), ("2023-11-28_10h11m12s.jpg", 36_672),
        ("FB_IMG_1701166272123.jpg", 36_672), ("mmexport1701166272123.jpg", 36_672),
        ("2023-11-28 5 friends.jpg", 0), ("2023-11-28-1-2-3.jpg", 0),
        ("2023_1128_101112.jpg", 36_672), ("Screenshot_2023-11-28_at_10.11.12.png", 36_672),
        ("screenshot-2023-11-28-at-10-11-12.png", 36_672),
        ("photo_1@28-11-2023_10-11-12.jpg", 36_672), ("photo@2023-11-28_10-11-12.jpg", 36_672),
        ("截屏2023-11-28 上午10.11.12.png", 36_672), ("截屏2023-11-28 下午1.11.12.png", 47_472),
        ("스크린샷 2023-11-28 오후 1.11.12.png", 47_472), ("20231128_241112.jpg", 0),
        ("Foto 28.11.2023 10-11-12.jpg", 36_672), ("Bild_28.11.2023_10.11.12.jpg", 36_672),
        ("Photo 28-11-2023 10 11 12.jpg", 36_672), ("28-11-2023 10-11-12.jpg", 36_672),
        ("28_11_2023_10_11_12.jpg", 36_672), ("Foto 28.11.2023 08.09.jpg", 0),
    ])
    func `the time in a file name is read`(name: String, seconds: Int64) {
        #expect(CivilTime(fileName: name.utf8)?.seconds == 1_701_129_600 + seconds)
    }

    @Test(
        arguments: [
            ("Scan 07.06.2015 08_09.jpg", 1_433_635_200),
            ("Scan 7.6.2015 08.09.jpg", 1_433_635_200), ("07.6.2015.jpg", 1_433_635_200),
            ("a@07-06-2015_10-11-12.jpg", 1_433_671_872), ("07-06-2015 10-11-12.jpg", nil),
            ("IMG 12-24-2019 10.11.12.jpg", nil), ("12.24.2019 10.11.12.jpg", nil),
            ("01-02-20150607.jpg", 1_433_635_200), ("07-06-2015 08.09 20150607.jpg", 1_433_635_200),
        ] as [(String, Int64?)])
    func `a date with the day first in a file name is read unless the month may be first`(
        name: String, seconds: Int64?
    ) { #expect(CivilTime(fileName: name.utf8)?.seconds == seconds) }

    @Test(
        arguments: [
            ("PXL_20231128_101112123.jpg", 0), ("PXL_20231128_101112123.MP~2.jpg", 0),
            ("20231128_101112000_iOS.jpg", 0), ("20231128_101112000_iOS 1.heic", 0),
            ("2023-11-28_10-11-12_UTC.jpg", 0), ("2023-11-28_10-11-12_UTC_1.jpg", 0),
            ("2023-11-28T10_11_12Z.jpg", 0), ("image_2023_11_28T10_11_12_123Z.jpg", 0),
            ("20231128T101112Z", 0), ("2023-11-28T10-11-12.123Z.jpg", 0),
            ("20231128_101112.jpg", nil), ("IMG_20231128_101112123.jpg", nil),
            ("20231128_101112_1.jpg", nil), ("20231128_101112_Z6.jpg", nil),
            ("20231128_101112Z6.jpg", nil), ("20231128_101112Zoo.jpg", nil),
            ("20231128_101112_UTCx.jpg", nil), ("20231128_101112_UTC+0200.jpg", nil),
        ] as [(String, Int?)])
    func `a time in a file name is in UTC if the name states it or a program writes UTC`(
        name: String, offset: Int?
    ) {
        let time = CivilTime(seconds: 1_701_166_272, offset: offset)
        #expect(CivilTime(fileName: name.utf8) == time)
    }

    @Test(arguments: [
        "IMG_1234.jpg", "DSC00020.jpg", "20231328.jpg", "202311281.jpg", "12023112.jpg",
        "FB_IMG_17011662720001.jpg", "FB_IMG_9901166272000.jpg", "1920x1080.jpg", "2999-01-01.jpg",
        "0000-00-00.jpg", "2021-1234.jpg", "2021-1104.jpg", "2021_1104_2.jpg", "2021-128.jpg",
        "1066-10-14.jpg", "",
    ])
    func `a number in a file name is no time`(name: String) {
        #expect(CivilTime(fileName: name.utf8) == nil)
    }

    @Test func `the time of a clock that is not set is not plausible`() throws {
        let now = Timestamp.now.secondsSince1970
        let times = [
            (0, nil), (1, nil), (now + 80_000, nil), (now + 90_000, 7200), (now + 90_000, nil),
        ]
        let results = times.map { CivilTime(seconds: $0, offset: $1).isPlausible }
        #expect(results == [false, true, true, true, false])
    }

    @Test(arguments: [
        "", "0000:00:00 00:00:00", "    :  :     :  :  ", "2023:02:29 00:00:00",
        "2024:13:01 00:00:00", "2024:00:01 00:00:00", "1799:01:01 00:00:00",
        "+024:01:01 00:00:00", "2024", "2024:01",
    ])
    func `an invalid time is rejected`(text: String) {
        #expect(CivilTime(Array(text.utf8), offset: nil) == nil)
    }

    @Test(arguments: [
        ("+01:00", 3600), ("-09:30", -34_200), ("+00:00", 0), ("+15:00", nil), ("01:00", nil),
        ("Z", 0), ("+1:00x", nil),
    ])
    func `an invalid offset counts as missing`(text: String, seconds: Int?) {
        let time = CivilTime(Array("2024:01:01 00:00:00".utf8), offset: Array(text.utf8))
        #expect(time?.offset == seconds && time != nil)
    }

    @Test func `a blank offset and fraction do not replace those in the text`() {
        let time = CivilTime(
            Array("2001:02:03 04:05:06.25+02:00".utf8), offset: Array("   :  ".utf8),
            fraction: Array("   ".utf8))
        #expect(time?.offset == 7200 && time?.fraction == "25")
    }

    @Test(arguments: [("25", "25"), ("", ""), ("2 5", ""), ("1234567890", "")])
    func `the fraction of a second is read`(text: String, fraction: String) {
        let time = CivilTime(
            Array("2024:01:01 00:00:00".utf8), offset: nil, fraction: Array(text.utf8))
        #expect(time?.fraction == fraction)
    }
}
