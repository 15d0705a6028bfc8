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
    /// The changes that the user requested before the first image of the photo.
    private var requests: [(inout PhotoTransform) -> Void] = []
    /// The movement to another transform.
    private var movement: (from: PhotoTransform, to: PhotoTransform)?
    /// The photo that makes room for the next one, the distance in which that follows, and the part that is done.
    private var slide: (old: PlacedTexture, distance: Double, part: Double)?
    /// The animations of the movement or after a drag, of the slide, and of a photo that returns after a swipe.
    private var moving, sliding, returning: Animation?
    private var inertia = Inertia()
    /// The zoom for which the image was requested.
    private var zoomOfImage = 1.0
    private var pointer = (x: 0.0, y: 0.0)
    private var lastDrag = (x: 0.0, y: 0.0)
    private var swipe = Swipe()
    private var fingers = FingerGesture()
    /// True while two fingers are on the photo, the first of which also drags.
    private var hasFingers = false

    init() {
        widget.setFocusable(true)
        widget.onDraw = { [unowned self] in pictures }
        widget.onResize = { [unowned self] in
            adapt { [widget] in
                $0.setView(
                    width: Double(widget.width), height: Double(widget.height),
                    pixelsPerUnit: Double(widget.scaleFactor))
            }
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
            moving = nil
            movement = nil
            returning = nil
            swipe = Swipe()
            transform.setPhoto(width: Double(size.width), height: Double(size.height))
            let requests = texture == nil ? [] : requests
            self.requests = []
            for request in requests { change(request) }
        } else if texture != nil {
            adapt { $0.correctPhoto(width: Double(size.width), height: Double(size.height)) }
        }
        redraw()
    }

    /// Shows no photo.
    func clear() {
        sliding = nil
        slide = nil
        show(nil, isSamePhoto: false)
    }

    /// Changes the size of the view or photo, also at both ends of a movement.
    private func adapt(_ body: (inout PhotoTransform) -> Void) {
        body(&transform)
        guard var movement else { return }
        body(&movement.from)
        body(&movement.to)
        self.movement = movement
    }

    func zoom(by factor: Double) {
        animate { $0.zoom(by: factor, aroundX: $0.viewSize.x / 2, y: $0.viewSize.y / 2) }
    }

    // MARK: Animations

    /// Zooms or rotates the photo in an animation. A further change continues at the end of the one before.
    func animate(_ body: @escaping (inout PhotoTransform) -> Void) {
        // The size of the photo is known with its first image.
        guard texture != nil else { return requests.append(body) }
        var end = target
        body(&end)
        movement = (transform, end)
        moving = Animation(widget) { [weak self] in self?.continueMovement($0) }
        reportZoom()
    }

    /// The transform at the end of a movement.
    var target: PhotoTransform { movement?.to ?? transform }

    private func continueMovement(_ part: Double) {
        guard let movement else { return }
        if part == 1 { return change { $0 = movement.to } }
        transform = movement.from.moved(to: movement.to, part: part)
        widget.redraw()
    }

    /// Moves the photo away, and the one that is shown next to its place.
    ///
    /// - Parameter direction: 1 if the next photo comes from the right, -1 if it comes from the left.
    func beginSlide(_ direction: Int) {
        guard let old = picture else { return }
        let distance = Double(direction) * transform.viewSize.x + swipe.offset
        sliding = Animation(widget) { [weak self] part in
            self?.slide = part < 1 ? (old, distance, part) : nil
            self?.widget.redraw()
        }
    }

    /// Moves or rotates the photo at once, from the end of a movement: half a rotation never remains.
    func change(_ body: (inout PhotoTransform) -> Void) {
        transform = target
        movement = nil
        body(&transform)
        redraw()
        reportZoom()
    }

    private func reportZoom() {
        guard target.zoom != zoomOfImage else { return }
        zoomOfImage = target.zoom
        onZoom?()
    }

    private func redraw() {
        widget.setAccessibleDescription(transform.summary)
        updateCursor()
        widget.redraw()
    }

    private func updateCursor() {
        widget.setCursor(isCursorHidden ? "none" : transform.isZoomed ? "grab" : nil)
    }

    /// The image at its place; nil without an image.
    private var picture: PlacedTexture? {
        guard let texture else { return nil }
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
        return PlacedTexture(texture, center: center, size: size, degrees: transform.degrees)
    }

    /// The images of a frame: that of the photo, and during a slide the one before.
    private var pictures: [PlacedTexture] {
        var pictures = [picture].compactMap(\.self)
        if var slide {
            for index in pictures.indices {
                pictures[index].center.x += slide.distance * (1 - slide.part)
            }
            slide.old.center.x -= slide.distance * slide.part
            pictures.append(slide.old)
        }
        return pictures
    }

    // MARK: Pointer

    private func connectPointer() {
        widget.onPointer { [weak self] in self?.pointer = ($0, $1) }
        widget.onScroll { [weak self] step in
            guard let self else { return }
            let (x, y) = pointer
            let scroll: (inout PhotoTransform) -> Void = { $0.scroll(step, aroundX: x, y: y) }
            // A touchpad sends many small steps.
            if step.isWheel { animate(scroll) } else { change(scroll) }
        }
        widget.onPress { [weak self] count, x, y in
            guard let self else { return }
            widget.grabFocus()
            if count == 2 { animate { $0.toggleZoom(aroundX: x, y: y) } }
        }
        widget.onDrag { [weak self] in self?.drag($0, $1, $2, $3) }
    }

    private func drag(_ phase: GesturePhase, _ x: Double, _ y: Double, _ time: Double) {
        switch phase {
        case .began:
            stop()
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
            if widget.hasAnimations { glide() }
        }
    }

    private func endSwipe(_ time: Double) {
        let step = swipe.release(width: transform.viewSize.x, time: time)
        // Another photo begins at its place.
        if step != 0, onSwipe?(step) == true { return }
        let distance = swipe.offset
        returning = Animation(widget) { [weak self] part in
            self?.swipe.offset = distance * (1 - part)
            self?.widget.redraw()
        }
    }

    /// Lets the photo come to rest after a drag. An animation begins with three times its average speed.
    private func glide() {
        let distance = inertia.speed * Self.glideSeconds / 3
        var last = SIMD2<Double>.zero
        moving = Animation(widget, seconds: Self.glideSeconds) { [weak self] part in
            let step = distance * part - last
            last += step
            self?.change { $0.pan(x: step.x, y: step.y) }
        }
    }

    private static let glideSeconds = 0.75

    /// Ends a movement at its end, or the movement after a drag or swipe at once.
    private func stop() {
        moving = nil
        returning = nil
        change { _ in }
    }

    // MARK: Fingers

    private func connectFingers() {
        widget.onPinch { [weak self] phase, factor, x, y in
            guard let self else { return }
            switch phase {
            case .began:
                hasFingers = true
                stop()
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
