/// What the daemon wants of its image helper. Descriptors go along: ``inputs`` first, then ``outputs``.
package enum ImageJob: Hashable, Sendable {
    /// Tell what the file says. One descriptor, to read.
    case probe
    /// Make a smaller image, at most this wide and high. Two descriptors, to read and to write.
    case scale(pixels: Int, ImageOutput)
    /// Make a square of the middle, this wide and high, a PNG. Two descriptors, to read and to write.
    case square(pixels: Int)
    /// Draw initials, this wide and high, a PNG. One descriptor, to write.
    case initials(name: String, pixels: Int)

    /// How many files are read.
    package var inputs: Int {
        switch self {
        case .probe, .scale, .square: 1
        case .initials: 0
        }
    }

    /// How many files are written.
    package var outputs: Int {
        switch self {
        case .probe: 0
        case .scale, .square, .initials: 1
        }
    }
}

/// What an image is written as.
package enum ImageOutput: Hashable, Sendable {
    /// PNG, with texts that go along.
    case png([String: String])
    case jpeg(quality: Int)
}

/// What the helper says.
package enum ImageReply: Hashable, Sendable {
    /// It is there, first of all, and as well guarded as that.
    case ready(ImageGuards)
    /// An image is written.
    case done
    case facts(ImageFindings)
    case failure(ImageFailure)
}

/// What keeps the helper from doing harm.
package struct ImageGuards: OptionSet, Hashable, Sendable {
    package let rawValue: UInt8

    package init(rawValue: UInt8) { self.rawValue = rawValue }

    /// Few system calls are left.
    package static let systemCalls = ImageGuards(rawValue: 1)
    /// No file can be opened.
    package static let files = ImageGuards(rawValue: 2)
}

/// What was found in a file.
package struct ImageFindings: Hashable, Sendable {
    package var width: Int
    package var height: Int
    /// What the camera's clock showed, as seconds since 1970 if it was UTC, and how far it was ahead of UTC,
    /// in seconds; nil where that is not known.
    package var taken: Int?
    package var takenOffset: Int?

    package init(width: Int, height: Int, taken: Int? = nil, takenOffset: Int? = nil) {
        self.width = width
        self.height = height
        self.taken = taken
        self.takenOffset = takenOffset
    }
}

/// Why a job came to nothing.
package enum ImageFailure: Error, Hashable, Sendable {
    case damaged
    case tooLarge
    /// What is missing, in words for a person.
    case notSupported(String)
    /// Writing failed, with the `errno`.
    case cannotWrite(Int32)
    /// The job is none: the two sides are of different versions, or one of them is wrong.
    case misunderstood
}
