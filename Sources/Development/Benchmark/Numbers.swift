extension [Duration] {
    /// The median; zero for an empty array.
    var median: Duration { isEmpty ? .zero : sorted()[count / 2] }
    /// The 95th percentile; zero for an empty array.
    var percentile95: Duration { isEmpty ? .zero : sorted()[count * 95 / 100] }
}

func milliseconds(_ time: Duration, digits: Int = 1) -> String {
    fixed(time / .milliseconds(1), digits: digits) + " ms"
}

func microseconds(_ time: Duration) -> String {
    fixed(time / .microseconds(1), digits: 1) + " µs"
}

/// Formats a non-negative number with one or two decimals.
func fixed(_ value: Double, digits: Int) -> String {
    let scale = digits == 1 ? 10 : 100
    let scaled = Int((max(0, value) * Double(scale)).rounded())
    let fraction = "\(scaled % scale)"
    return "\(scaled / scale)." + String(repeating: "0", count: digits - fraction.count) + fraction
}
