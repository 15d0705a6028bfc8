internal import Contract
internal import DBus
internal import JSONFormat
internal import ProviderKit

/// The current photo and the settings of the slideshow.
struct SlideshowDetails: Renderable {
    let slideshow: SlideshowProperties

    var json: JSON { JSON(slideshow.properties, order: PropertyOrder.slideshow) }

    func text(for target: OutputTarget) -> String {
        let photo = slideshow.photo
        let details: [(name: String, value: String)] = [
            ("Photo", photo?.id ?? ""),
            ("Title", photo?.caption ?? ""),
            ("Author", photo?.author ?? ""),
            ("Image", slideshow.image),
            ("Paused", slideshow.isPaused ? "yes" : "no"),
            ("Interval", SlideshowInterval(seconds: slideshow.interval).text),
            ("Shuffle", slideshow.isShuffled ? "yes" : "no"),
        ]
        let sources = slideshow.sources.map { ("Source", $0) }
        let others = [
            ("Orientation", slideshow.orientation),
            ("ImageSize", slideshow.imageSize),
            ("Hidden", slideshow.hidden.joined(separator: " ")),
        ]
        return DetailList(
            details: (details + sources + others).filter { !$0.1.isEmpty }.map {
                ($0.0, Cell($0.1))
            }
        ).text(for: target)
    }

    /// The message if there is no current photo; nil if there is one.
    var message: String? {
        slideshow.photo == nil
            ? "The slideshow shows no photo. Start it with “imagefeedctl slideshow next”." : nil
    }
}
