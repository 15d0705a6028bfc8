internal import Toolkit

/// A photo that can be zoomed, moved and rotated.
final class PhotoView {
    let widget = Canvas().expanding()
    /// Called when the user swipes to the next (1) or previous (-1) photo. Returns false if there is none.
    var onSwipe: ((Int) -> Bool)?
    /// Called when the zoom changes.
    var onZoom: (() -> Void)?
    /// Called when the view got another size. The handler must not change widgets at once.
    var onResize: (() -> Void)?
    private(set) var transform = PhotoTransform()
    var isCursorHidden = false { didSet { updateCursor() } }

    private var texture: Texture?
    private var inertia = Inertia()
    private var isMoving = false
    private var pointer = (x: 0.0, y: 0.0)
    private var lastDrag = (x: 0.0, y: 0.0)
    private var swipe = Swipe()
    private var fingers = FingerGesture()
    /// True while two fingers are on the photo, the first of which also drags.
    private var hasFingers = false

    init() {
        widget.isFocusable = true
        widget.onDraw = { [unowned self] in draw($0) }
        widget.onResize = { [unowned self] in
            transform.setView(
                width: Double(widget.width), height: Double(widget.height),
                pixelsPerUnit: Double(widget.scaleFactor))
            onResize?()
        }
        connectPointer()
        connectFingers()
    }

    /// Shows an image. The image in another size of the same photo keeps the zoom.
    ///
    /// - Parameters:
    ///   - texture: The image; nil for none.
    ///   - size: The size of the photo in its own pixels.
    ///   - isSamePhoto: True if the image is one of the photo that is shown.
    func show(_ texture: Texture?, size: (width: Int, height: Int) = (1, 1), isSamePhoto: Bool) {
        self.texture = texture
        if !isSamePhoto {
            swipe = Swipe()
            transform.setPhoto(width: Double(size.width), height: Double(size.height))
        } else if texture != nil {
            transform.correctPhoto(width: Double(size.width), height: Double(size.height))
        }
        redraw()
    }

    func zoom(by factor: Double) {
        change { $0.zoom(by: factor, aroundX: $0.viewSize.x / 2, y: $0.viewSize.y / 2) }
    }

    /// Zooms, moves or rotates the photo.
    func change(_ body: (inout PhotoTransform) -> Void) {
        let old = transform.zoom
        body(&transform)
        redraw()
        if old != transform.zoom { onZoom?() }
    }

    private func redraw() {
        widget.setAccessibleDescription(transform.summary)
        updateCursor()
        widget.redraw()
    }

    private func updateCursor() {
        widget.setCursor(isCursorHidden ? "none" : transform.isZoomed ? "grab" : nil)
    }

    private func draw(_ drawing: Drawing) {
        guard let texture else { return }
        var center = transform.viewSize / 2 + transform.offset
        center.x += swipe.offset
        var size = transform.photoSize * transform.scale
        let own = SIMD2(Double(texture.width), Double(texture.height))
        // An image for exactly these pixels is not scaled again, which would blur it.
        let pixels = transform.pixelsPerUnit
        let excess = size * pixels - own
        if transform.degrees == 0, excess.x.magnitude <= 1, excess.y.magnitude <= 1 {
            size = own / pixels
            let corner = (center - size / 2) * pixels
            center = corner.rounded(.toNearestOrAwayFromZero) / pixels + size / 2
        }
        drawing.image(texture, center: center, size: size, degrees: transform.degrees)
    }

    // MARK: Pointer

    private func connectPointer() {
        widget.onPointer(moved: { [weak self] in self?.pointer = ($0, $1) })
        widget.onScroll { [weak self] y in
            guard let self else { return }
            change { $0.zoom(by: y < 0 ? 1.2 : 1 / 1.2, aroundX: pointer.x, y: pointer.y) }
        }
        widget.onPress { [weak self] count, x, y in
            guard let self else { return }
            widget.grabFocus()
            isMoving = false
            if count == 2 { change { $0.toggleZoom(aroundX: x, y: y) } }
        }
        widget.onDrag { [weak self] in self?.drag($0, $1, $2, $3) }
    }

    private func drag(_ phase: GesturePhase, _ x: Double, _ y: Double, _ time: Double) {
        switch phase {
        case .began:
            isMoving = false
            inertia.begin(time: time)
            lastDrag = (0, 0)
            swipe.begin(time: time)
        case .changed:
            defer { lastDrag = (x, y) }
            guard !hasFingers else { return }
            if transform.isZoomed {
                inertia.move(x: x, y: y, time: time)
                change { $0.pan(x: x - lastDrag.x, y: y - lastDrag.y) }
            } else {
                swipe.move(x: x, y: y, time: time)
                widget.redraw()
            }
        case .ended:
            guard transform.isZoomed else { return endSwipe(time) }
            inertia.release(time: time)
            guard widget.hasAnimations, !isMoving else { return }
            inertia.beginGlide(time: Application.seconds)
            isMoving = true
            widget.onFrame { [weak self] in self?.glide() ?? false }
        }
    }

    private func endSwipe(_ time: Double) {
        let step = swipe.release(width: transform.viewSize.x, time: time)
        // Another photo begins at its place.
        if step != 0, onSwipe?(step) == true { return }
        guard widget.hasAnimations, swipe.offset != 0 else {
            swipe = Swipe()
            return widget.redraw()
        }
        swipe.beginReturn(time: Application.seconds)
        widget.onFrame { [weak self] in
            guard let self else { return false }
            defer { widget.redraw() }
            return swipe.returnToPlace(time: Application.seconds)
        }
    }

    private func glide() -> Bool {
        guard isMoving, let movement = inertia.step(time: Application.seconds) else {
            isMoving = false
            return false
        }
        change { $0.pan(x: movement.x, y: movement.y) }
        return true
    }

    // MARK: Fingers

    private func connectFingers() {
        widget.onPinch { [weak self] phase, factor, x, y in
            guard let self else { return }
            switch phase {
            case .began:
                hasFingers = true
                isMoving = false
                swipe.cancel()
                fingers.begin(x: x, y: y)
            case .changed: change { fingers.pinch(&$0, factor: factor, x: x, y: y) }
            case .ended: hasFingers = false
            }
        }
        widget.onTurn { [weak self] phase, angle in
            guard let self else { return }
            switch phase {
            case .began: fingers.beginTurn()
            case .changed: change { fingers.turn(&$0, angle: angle) }
            case .ended: change { fingers.endTurn(&$0) }
            }
        }
    }
}
