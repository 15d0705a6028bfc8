internal import Contract
internal import DBus
internal import JSONFormat
internal import ProviderKit
internal import Translation

/// The current photo and the settings of the slideshow.
struct SlideshowDetails: Renderable {
    let slideshow: SlideshowProperties

    var json: JSON { JSON(slideshow.properties, order: PropertyOrder.slideshow) }

    func text(for target: OutputTarget) -> String {
        let photo = slideshow.photo
        let details: [(name: String, value: String)] = [
            (target.tr("Photo"), photo?.id ?? ""),
            (target.tr("Title"), photo?.caption ?? ""),
            (target.tr("Author"), photo?.author ?? ""),
            // Translators: the path of the image file of the current photo.
            (target.tr("Image"), slideshow.image),
            (target.tr("Paused"), target.word(slideshow.isPaused ? "yes" : "no")),
            // Translators: the time per photo.
            (target.tr("Interval"), SlideshowInterval(seconds: slideshow.interval).text),
            // Translators: yes if the photos have a random order.
            (target.tr("Shuffle"), target.word(slideshow.isShuffled ? "yes" : "no")),
        ]
        let sources = slideshow.sources.map { (target.tr("Source"), $0) }
        let others = [
            // Translators: the form of the photos: landscape or portrait.
            (target.tr("Orientation"), slideshow.orientation),
            (target.tr("ImageSize"), slideshow.imageSize),
            // Translators: the photos that are excluded from the slideshow.
            (target.tr("Hidden"), slideshow.hidden.joined(separator: " ")),
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
            ? tr("The slideshow shows no photo. Start it with “imagefeedctl slideshow next”.")
            : nil
    }
}
