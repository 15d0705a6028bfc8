package import ServiceSimulator

/// A simulated Wikimedia Commons on loopback, with faults on demand.
///
/// ```swift
/// let commons = try SimulatedWikimedia.start(pictureCount: 45)
/// commons.change(commons.pictures[0]) { $0.mediaType = "image/tiff" }
/// // … a client sends requests to commons.apiURL …
/// ```
///
/// The latest days have no picture until ``publish(_:)`` adds them.
package final class SimulatedWikimedia: SimulatedService {
    package let simulator: SimulatorServer<CommonsState>

    /// The origin of the API.
    package var url: String { simulator.origin(.commons) }
    /// The address of the API.
    package var apiURL: String { url + "/w/api.php" }
    /// The origin of the images.
    package var imagesURL: String { simulator.origin(.images) }

    /// The number of days at the top without a picture.
    package static let emptyDays = 12

    /// Starts a service on free ports.
    ///
    /// - Parameter pictureCount: The number of pictures, of consecutive days.
    /// - Returns: The running service.
    /// - Throws: ``LoopbackHTTP/SystemError``.
    package static func start(pictureCount: Int = 45) throws -> SimulatedWikimedia {
        try SimulatedWikimedia(pictureCount: pictureCount)
    }

    private init(pictureCount: Int) throws {
        simulator = try SimulatorServer(CommonsState(), [(.commons, 0), (.images, 0)])
        let origins = (simulator.origin(.commons), simulator.origin(.images))
        simulator.withState { state in
            (state.origin, state.imageOrigin) = origins
            let latest = state.now + -86_400 * Self.emptyDays
            for number in 0..<pictureCount { state.add(latest + -86_400 * number) { _ in } }
        }
    }

    // MARK: Contents

    /// The IDs of the pictures that a client can show, the newest first: the day and the page ID.
    package var pictures: [String] {
        simulator.withState { state in
            state.pictures.filter { !$0.isDeleted && $0.mediaType.hasPrefix("image/") }
                .sorted { $0.day > $1.day }.map(\.id)
        }
    }

    /// Adds the picture of the day after the latest one.
    @discardableResult
    package func publish(_ change: (inout SimulatedPicture) -> Void = { _ in }) -> String {
        simulator.withState { state in
            let latest = state.pictures.map(\.date).max() ?? state.now
            return state.add(latest + 86_400, change).id
        }
    }

    /// Changes a picture.
    package func change(_ id: String, _ change: (inout SimulatedPicture) -> Void) {
        simulator.withState { state in
            guard let index = state.pictures.firstIndex(where: { $0.id == id }) else { return }
            change(&state.pictures[index])
        }
    }

    /// Deletes the file of a picture. The template of its day still names the file.
    package func delete(_ id: String) { change(id) { $0.isDeleted = true } }

    /// Removes the template of a day.
    package func removeDay(of id: String) {
        simulator.withState { $0.pictures.removeAll { $0.id == id } }
    }

    // MARK: Behaviour

    /// The delay of the slowest database, in seconds.
    package var lag: Int {
        get { simulator.withState { $0.lag } }
        set { simulator.withState { $0.lag = newValue } }
    }

    /// The number of images in a response; more follow in the next one.
    package var imagesPerResponse: Int {
        get { simulator.withState { $0.imagesPerResponse } }
        set { simulator.withState { $0.imagesPerResponse = newValue } }
    }

    /// The standard widths that the service no longer draws.
    package var refusedWidths: Set<Int> {
        get { simulator.withState { $0.refusedWidths } }
        set { simulator.withState { $0.refusedWidths = newValue } }
    }

    /// True if the pages of days show an icon, too.
    package var showsIcons: Bool {
        get { simulator.withState { $0.showsIcons } }
        set { simulator.withState { $0.showsIcons = newValue } }
    }
}

extension RecordedRequest.Host {
    /// The API.
    package static let commons = Self(rawValue: "commons")
    /// The originals and thumbnails.
    package static let images = Self(rawValue: "images")
}

/// The picture of a day.
package struct SimulatedPicture: Sendable {
    /// The page ID of the file.
    package let page: Int
    let date: Moment
    /// The name of the file.
    package var name: String
    /// The former name, which the template of the day still has; nil if the file was not moved.
    package var formerName: String?
    package var mediaType = "image/jpeg"
    package var width = 6000
    package var height = 4000
    package var bytes = 9_000_000
    package var isDeleted = false
    /// The texts, as HTML.
    package var texts: [String: String]

    /// The day, `2026-11-22`.
    package var day: String { String(date.utc.prefix(10)) }
    package var id: String { "\(day)-\(page)" }

    init(page: Int, date: Moment) {
        self.page = page
        self.date = date
        name = "Picture \(page) (é).jpg"
        texts = [
            "Artist":
                "<a href=\"//commons.wikimedia.org/wiki/User:Ada_%26_Co\" title=\"User:Ada &amp; Co\">Ada &amp; Co</a>",
            "LicenseShortName": "CC BY-SA 4.0",
            "LicenseUrl": "https://creativecommons.org/licenses/by-sa/4.0",
            "ObjectName": "Picture \(page)",
            "ImageDescription":
                "<p>A <i>red</i> bicycle,<br>number&nbsp;\(page)</p><script>alert(1)</script>",
        ]
    }
}
