internal import CLinux
internal import ImageMetadata
internal import ProviderKit

extension FileDigest {
    /// Reads the properties of an open file by which an edited file is recognized.
    ///
    /// - Parameters:
    ///   - bytes: The digest of the file.
    ///   - stamp: The stamp of the file.
    ///   - descriptor: The file, open for reading.
    init(bytes: [UInt8], _ stamp: FileStamp, descriptor: Int32) {
        self.init(
            bytes: bytes, stamp: stamp, birth: Self.birth(descriptor),
            taken: CaptureTime(FileBytes(descriptor: descriptor)))
    }

    /// Returns the time of creation of an open file; nil if it is unknown.
    static func birth(_ descriptor: Int32) -> Int64? {
        var times = shim_file_times()
        guard shim_get_file_times(descriptor, &times) == 0, times.has_birth != 0 else { return nil }
        return Int64(times.birth)
    }
}

/// The time at which a photo was taken, as the clock of the camera showed it.
struct CaptureTime: Hashable, Sendable {
    /// Seconds since 1970, if the clock showed UTC.
    let seconds: Int64
    /// The decimal digits of the fraction of a second; empty if the camera does not record it.
    let fraction: String
}

extension CaptureTime {
    init?(_ file: FileBytes) {
        let prefix = file.bytes(at: 0, min(file.count, ImageFormat.prefixBytes))
        guard let prefix = prefix?.array,
            let format = prefix.withUnsafeBytes({ ImageFormat(prefix: $0) }),
            let taken = ImageHeader(file, format: format)?.taken
        else { return nil }
        self.init(seconds: taken.seconds, fraction: taken.fraction)
    }

    /// The form in which the time is stored: `1732255320.25`.
    var text: String { fraction.isEmpty ? "\(seconds)" : "\(seconds).\(fraction)" }

    /// Reads the stored form; nil for anything else.
    init?(_ text: String) {
        let parts = text.split(separator: ".", maxSplits: 1)
        guard let seconds = parts.first.flatMap({ Int64($0) }) else { return nil }
        self.init(seconds: seconds, fraction: parts.count > 1 ? String(parts[1]) : "")
    }

    /// Returns true if two photos were taken at the same time. Some editors drop the fraction, so a missing one matches
    /// any.
    func matches(_ other: CaptureTime) -> Bool {
        seconds == other.seconds
            && (fraction == other.fraction || fraction.isEmpty || other.fraction.isEmpty)
    }
}
