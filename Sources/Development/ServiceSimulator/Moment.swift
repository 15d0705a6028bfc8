internal import Glibc

/// A time in whole seconds since 1970, with the formats that services write.
package struct Moment: Hashable, Comparable, Sendable {
    package var secondsSince1970: Int

    package init(_ secondsSince1970: Int) { self.secondsSince1970 = secondsSince1970 }

    package static func < (left: Moment, right: Moment) -> Bool {
        left.secondsSince1970 < right.secondsSince1970
    }

    package static func + (moment: Moment, seconds: Int) -> Moment {
        Moment(moment.secondsSince1970 + seconds)
    }

    /// `2023-08-12T16:44:20Z`, the format of Unsplash since 2023.
    package var utc: String { format("%Y-%m-%dT%H:%M:%SZ") }

    /// `2021-04-11T10:31:09-04:00`, the format of Unsplash until 2021.
    package var eastern: String { (self + -4 * 3600).format("%Y-%m-%dT%H:%M:%S-04:00") }

    /// `Mon, 04 Sep 2023 07:09:35 GMT`.
    package var http: String { format("%a, %d %b %Y %H:%M:%S GMT") }

    private func format(_ form: String) -> String {
        var seconds = time_t(secondsSince1970)
        var fields = tm()
        gmtime_r(&seconds, &fields)
        var text = [CChar](repeating: 0, count: 64)
        let count = strftime(&text, text.count, form, &fields)
        return String(decoding: text[..<count].map { UInt8(bitPattern: $0) }, as: UTF8.self)
    }
}
