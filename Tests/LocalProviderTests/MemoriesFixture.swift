import EngineModel
import Glibc
import ImageMetadata
import ProviderKit
import TestSupport
import Testing

@testable import LocalProvider

/// A pictures folder with photos that have dates of capture, and a calendar that the test sets.
final class MemoriesFixture: Sendable {
    let images: ScriptedImageProcessor
    let today: Observed<PresentDay>
    let clock = ManualClock()
    let photos: PhotosFixture

    /// - Parameters:
    ///   - dates: The names of the photos, the oldest file first, with their times of capture as EXIF states them; nil
    ///     for a photo without one.
    ///   - today: The present date.
    ///   - directory: The directory of an earlier fixture; nil for a new one.
    /// - Throws: `SystemError`, or the error of a failed write.
    init(
        _ dates: [(String, String?)], today: String, _ directory: TemporaryDirectory? = nil
    ) throws {
        let images = ScriptedImageProcessor()
        images.facts.update { facts in
            for (name, date) in dates { facts[name] = Self.facts(date) }
        }
        self.images = images
        let presentDay = Observed(try Self.day(today))
        self.today = presentDay
        photos = try PhotosFixture(
            directory, photos: directory == nil ? dates.map(\.0) : [], images: images, clock: clock,
            presentDay: { presentDay.value })
    }

    /// Creates a fixture, and waits until the dates of all photos are in the index and were reported.
    static func examined(
        _ dates: [(String, String?)], today: String
    ) async throws -> MemoriesFixture {
        let fixture = try MemoriesFixture(dates, today: today)
        try await fixture.photos.examine()
        // A changed photo is reported after its date.
        let ids = Set(try await fixture.photos.photos().map(\.id))
        try await fixture.photos.events.wait { events in
            let changed = events.flatMap(\.changed).filter { $0.width != nil }
            return ids.isSubset(of: changed.map(\.id)) ? true : nil
        }
        return fixture
    }

    /// Returns the facts of a photo that was taken at `2024-02-29 12:00`, in UTC.
    static func facts(_ time: String?) -> ImageFacts {
        guard let time else { return ImageFacts(width: 4, height: 3) }
        let numbers = time.split { "- :".contains($0) }.compactMap { Int32($0) }
        var parts = tm()
        parts.tm_year = numbers[0] - 1900
        parts.tm_mon = numbers[1] - 1
        parts.tm_mday = numbers[2]
        parts.tm_hour = numbers.count > 3 ? numbers[3] : 12
        parts.tm_min = numbers.count > 4 ? numbers[4] : 0
        let seconds = Int64(timegm(&parts))
        return ImageFacts(width: 4, height: 3, taken: Timestamp(secondsSince1970: seconds))
    }

    static func date(_ text: String) throws -> CalendarDate { try #require(CalendarDate(text)) }

    private static func day(_ text: String) throws -> PresentDay { (try date(text), .seconds(600)) }

    /// Changes the present date, without a timer.
    func setToday(_ text: String) throws {
        let day = try Self.day(text)
        today.update { $0 = day }
    }

    /// Changes the date of capture of a photo, and its file.
    func redate(_ name: String, _ time: String?, seconds: Int) async throws {
        images.facts.update { $0[name] = Self.facts(time) }
        PhotosFixture.touch(photos.path(name), seconds: seconds)
        _ = try await photos.session.refresh(.all)
        try await photos.examine()
    }

    func titles(pageSize: Int = 100) async throws -> [String] {
        try await photos.photos(.memories, pageSize: pageSize).map { $0.title ?? "" }
    }

    func page(_ cursor: String? = nil, count: Int = 1) async throws -> Page {
        try await photos.session.page(.memories, after: cursor, count: count)
    }

    /// The numbers of new photos in the `updated` events of the source so far.
    var updates: [Int] { Self.updates(photos.events.value) }

    private static func updates(_ events: [SessionEvent]) -> [Int] {
        events.compactMap { event in
            if case .updated(.memories, let new) = event { new } else { nil }
        }
    }

    /// Waits until the `updated` events of the source have these numbers of new photos.
    func updated(_ updates: [Int]) async throws {
        try await photos.events.wait { Self.updates($0) == updates ? true : nil }
    }
}
