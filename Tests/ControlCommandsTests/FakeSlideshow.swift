import Contract
import DBus
import TestSupport

/// A fake slideshow over the photos `local_ada/1`, `local_ada/2` and so on, without a timer.
@MainActor final class FakeSlideshow {
    /// The calls and the written settings.
    let calls = Observed<[String]>([])
    /// The number of clients that are attached.
    let attached = Observed(0)
    /// True while calls of Attach receive no reply.
    let isAttachSuspended = Observed(false)
    let object = ExportedObject(ServiceName.slideshow)
    private(set) var photo: [String: Variant] = [:]
    private(set) var image = ""
    private var isPaused = false { didSet { set("Paused", "\(isPaused)") } }
    private var interval: UInt32 = 1800 { didSet { set("Interval", "\(interval)") } }
    private var isShuffled = false { didSet { set("Shuffle", "\(isShuffled)") } }
    private var source = BusStruct(ServiceName.combined, "")
    private var imageSize = "regular" { didSet { set("ImageSize", imageSize) } }
    var hidden: [String] = []
    private var number = 0

    init() { object.add(Self.interface, on: self) }

    /// Makes a photo current.
    func show(_ photo: [String: Variant], image: String) {
        self.photo = photo
        self.image = image
        object.announceChanges()
    }

    /// Makes the photo `local_ada/NUMBER` with the image `/images/NUMBER.png` current.
    func show(_ number: Int) {
        self.number = number
        show(
            Samples.photo("local_ada/\(number)", title: "t\(number)"),
            image: "/images/\(number).png")
    }

    private func step(_ method: String, _ offset: Int) throws {
        calls.append(method)
        guard number + offset >= 0 else {
            throw ErrorReply(ServiceError.notFound.name, "No photo was shown before.")
        }
        show(number + offset)
    }

    private func set(_ name: String, _ value: String) {
        calls.append("\(name) \(value)")
        object.announceChanges()
    }

    static let interface = BusInterface<FakeSlideshow>(
        .slideshow,
        [
            .method("Next") { try $0.step("Next", 1) },
            .method("Previous") { try $0.step("Previous", -1) },
            .method("Show", in: ["photo"]) { (slideshow, photo: String) in
                slideshow.calls.append("Show \(photo)")
                slideshow.show(Samples.photo(photo, title: "shown"), image: "/images/shown.png")
            },
            .method("Hide", in: ["photo"]) { (slideshow, photo: String) in
                slideshow.calls.append("Hide \(photo)")
            },
            .method("Unhide", in: ["photo"]) { (slideshow, photo: String) in
                slideshow.calls.append("Unhide \(photo)")
            },
            .asyncMethod("Attach") { slideshow in
                slideshow.calls.append("Attach")
                slideshow.attached.update { $0 += 1 }
                try await slideshow.isAttachSuspended.wait { $0 ? nil : () }
            },
            .method("Detach") { slideshow in
                slideshow.calls.append("Detach")
                slideshow.attached.update { $0 -= 1 }
            },
            .property("Photo") { $0.photo },
            .property("Image") { $0.image },
            .property("Paused", { $0.isPaused }, set: { $0.isPaused = $1 }),
            .property("Interval", { $0.interval }, set: { $0.interval = $1 }),
            .property("Shuffle", { $0.isShuffled }, set: { $0.isShuffled = $1 }),
            .property("Source", { $0.source }) {
                $0.source = $1
                $0.set("Source", "\($1.elements.0) \($1.elements.1)")
            },
            .property("ImageSize", { $0.imageSize }, set: { $0.imageSize = $1 }),
            .property("CanGoNext") { _ in true },
            .property("CanGoPrevious") { $0.number > 0 },
            .property("Hidden") { $0.hidden },
        ])
}
