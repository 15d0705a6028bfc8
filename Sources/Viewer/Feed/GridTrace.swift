internal import Glibc
internal import Toolkit

/// Measurements of the grid for `dist/test-viewer --measure`, printed if `IMAGEFEED_VIEWER_TRACE` is set.
///
/// With the value `scroll`, the grid also scrolls to its end.
final class GridTrace {
    private let area: ScrollArea
    private var isStarted = false
    private var frames: [Double] = []
    private var lastFrame = 0.0
    private let isScrolling: Bool

    /// The speed of the scrolling in units per second.
    private static let speed = 4000.0
    /// The upper bounds of the classes of the histogram in milliseconds.
    private static let classes = [17.5, 25, 34, 50, 100, Double.infinity]

    /// Creates the measurements; nil if the variable is not set.
    init?(_ area: ScrollArea) {
        guard let mode = getenv("IMAGEFEED_VIEWER_TRACE") else { return nil }
        self.area = area
        isScrolling = String(cString: mode) == "scroll"
    }

    /// Records that the visible photos have their images.
    func showedAll() {
        guard !isStarted else { return }
        isStarted = true
        var isDrawn = false
        area.onFrame { [weak self] time in
            guard let self else { return false }
            // The images are drawn in the first frame, which has ended when the second one begins.
            if !isDrawn {
                isDrawn = true
                area.redraw()
                return true
            }
            report("thumbnails \(Self.now)")
            if isScrolling { scroll() }
            return false
        }
    }

    private static var now: Double {
        var time = timespec()
        clock_gettime(CLOCK_MONOTONIC, &time)
        return Double(time.tv_sec) + Double(time.tv_nsec) / 1e9
    }

    private func scroll() {
        area.onFrame { [weak self] time in
            guard let self else { return false }
            let now = Self.now
            defer { lastFrame = now }
            guard lastFrame > 0 else { return true }
            frames.append((now - lastFrame) * 1000)
            area.position += min(now - lastFrame, 0.1) * Self.speed
            if area.position + area.visibleHeight < area.contentHeight - 1 { return true }
            reportFrames()
            return false
        }
    }

    private func reportFrames() {
        var counts = Self.classes.map { _ in 0 }
        for frame in frames { counts[Self.classes.firstIndex { frame <= $0 } ?? 0] += 1 }
        let histogram = zip(Self.classes, counts).map { "\($0):\($1)" }.joined(separator: " ")
        report("frames \(frames.count) \(histogram)")
    }

    private func report(_ text: String) {
        print("trace \(text)")
        fflush(nil)
    }
}
