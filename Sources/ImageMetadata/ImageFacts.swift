package import Web

/// The camera of a photo, its settings and the place, as its file states them. Each property is nil if it is unknown.
package struct CaptureDetails: Hashable, Sendable {
    /// The name of the camera, with its maker.
    package var camera: String?
    /// The name of the lens.
    package var lens: String?
    /// The exposure time in seconds.
    package var exposureTime: Double?
    /// The f-number.
    package var aperture: Double?
    /// The sensitivity according to ISO.
    package var iso: Int?
    /// The latitude in degrees of WGS 84; nil if the longitude is unknown.
    package var latitude: Double?
    /// The longitude in degrees of WGS 84; nil if the latitude is unknown.
    package var longitude: Double?

    /// Creates unknown details.
    package init() {}

    /// True if all properties are known.
    var isComplete: Bool {
        camera != nil && lens != nil && exposureTime != nil && aperture != nil && iso != nil
            && latitude != nil
    }

    /// Sets unknown properties to those of other details, the latitude only with the longitude.
    mutating func complete(with other: CaptureDetails) {
        camera = camera ?? other.camera
        lens = lens ?? other.lens
        exposureTime = exposureTime ?? other.exposureTime
        aperture = aperture ?? other.aperture
        iso = iso ?? other.iso
        if latitude == nil { (latitude, longitude) = (other.latitude, other.longitude) }
    }

    /// Returns the name of a camera: the model, preceded by the maker unless the model contains it. Many models begin
    /// with one word of the maker, such as `NIKON D750` of `NIKON CORPORATION`.
    package static func camera(make: String?, model: String?) -> String? {
        guard let model, let make else { return model }
        let (lowercaseModel, lowercaseMake) = (model.lowercased(), make.lowercased())
        let makerWords = lowercaseMake.split(separator: " ")
        if lowercaseModel.contains(lowercaseMake) { return model }
        if let first = lowercaseModel.split(separator: " ").first, makerWords.contains(first) {
            return model
        }
        return "\(make) \(model)"
    }
}

/// The properties of an image file.
@dynamicMemberLookup
package struct ImageFacts: Hashable, Sendable {
    /// The width in pixels, after the orientation is applied.
    package var width: Int
    /// The height in pixels, after the orientation is applied.
    package var height: Int
    /// The time on the clock of the camera, as seconds since 1970 if the clock showed UTC; nil if it is unknown.
    package var clockSeconds: Int64?
    /// The offset of the clock from UTC in seconds; nil if it is unknown.
    package var clockOffset: Int64?
    /// The camera, its settings and the place.
    package var details = CaptureDetails()
    /// True if the image has several frames.
    package var isAnimated = false

    /// Creates the properties of an image.
    package init(width: Int, height: Int, taken: Timestamp? = nil) {
        self.width = width
        self.height = height
        clockSeconds = taken?.secondsSince1970
        clockOffset = taken.map { _ in 0 }
    }

    /// The time at which the photo was taken; nil if it is unknown. A time without a time zone is taken as local time.
    package var taken: Timestamp? {
        clockSeconds.map { seconds in
            clockOffset.map { Timestamp(secondsSince1970: seconds - $0) }
                ?? Timestamp(localClockSeconds: seconds)
        }
    }

    /// The date of ``taken`` on the clock of the camera.
    package var takenOn: CalendarDate? { clockSeconds.map(CalendarDate.init(clockSeconds:)) }

    /// A detail of the photo.
    package subscript<Value>(dynamicMember path: WritableKeyPath<CaptureDetails, Value>) -> Value {
        get { details[keyPath: path] }
        set { details[keyPath: path] = newValue }
    }
}
