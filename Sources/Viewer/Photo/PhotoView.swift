internal import Toolkit

/// A photo that can be zoomed, moved and rotated.
final class PhotoView {
    let widget = Canvas()
    /// Called when the user swipes to the next (1) or previous (-1) photo.
    var onSwipe: ((Int) -> Void)?
    /// Called when the zoom changes.
    var onZoom: (() -> Void)?
    private(set) var transform = PhotoTransform()

    private var texture: Texture?
    private var inertia = Inertia()
    private var isMoving = false
    private var pointer = (x: 0.0, y: 0.0)
    private var lastDrag = (x: 0.0, y: 0.0)
    private var lastPinch = 1.0
    private var lastTurn = 0.0

    init() {
        widget.expanding()
        widget.isFocusable = true
        widget.onDraw = { [unowned self] in draw($0) }
        widget.onResize = { [unowned self] in
            transform.setView(width: Double(widget.width), height: Double(widget.height))
        }
        connectPointer()
        connectFingers()
    }

    /// Shows an image. The image in another size of the same photo keeps the zoom.
    func show(_ texture: Texture?, isSamePhoto: Bool) {
        self.texture = texture
        if let texture, !isSamePhoto {
            transform.setPhoto(width: Double(texture.width), height: Double(texture.height))
        } else if let texture {
            resize(to: texture)
        }
        redraw()
    }

    private func resize(to texture: Texture) {
        let old = transform
        transform.setPhoto(width: Double(texture.width), height: Double(texture.height))
        transform.rotate(by: old.degrees)
        transform.zoom(by: old.zoom, aroundX: old.viewWidth / 2, y: old.viewHeight / 2)
        transform.pan(x: old.offsetX, y: old.offsetY)
    }

    func zoom(by factor: Double) {
        change { $0.zoom(by: factor, aroundX: $0.viewWidth / 2, y: $0.viewHeight / 2) }
    }
    func showWhole() { change { $0.reset() } }
    func toggleZoom() { change { $0.toggleZoom(aroundX: $0.viewWidth / 2, y: $0.viewHeight / 2) } }
    func rotate(by degrees: Double) { change { $0.rotate(by: degrees) } }
    func pan(x: Double, y: Double) { change { $0.pan(x: x, y: y) } }

    private func change(_ body: (inout PhotoTransform) -> Void) {
        let old = transform.zoom
        body(&transform)
        redraw()
        if old != transform.zoom { onZoom?() }
    }

    private func redraw() {
        widget.setAccessibleDescription(transform.summary)
        widget.setCursor(transform.isZoomed ? "grab" : nil)
        widget.redraw()
    }

    private func draw(_ drawing: Drawing) {
        guard let texture else { return }
        drawing.image(
            texture, x: transform.viewWidth / 2 + transform.offsetX,
            y: transform.viewHeight / 2 + transform.offsetY,
            width: Double(texture.width) * transform.scale,
            height: Double(texture.height) * transform.scale, degrees: transform.degrees)
    }

    // MARK: Pointer

    private func connectPointer() {
        widget.onPointer(moved: { [weak self] in self?.pointer = ($0, $1) }, left: {})
        widget.onScroll { [weak self] _, y, _ in
            guard let self else { return false }
            change { $0.zoom(by: y < 0 ? 1.2 : 1 / 1.2, aroundX: pointer.x, y: pointer.y) }
            return true
        }
        widget.onPress { [weak self] count, x, y in
            guard let self else { return }
            widget.grabFocus()
            isMoving = false
            if count == 2 { change { $0.toggleZoom(aroundX: x, y: y) } }
        }
        widget.onDrag { [weak self] phase, x, y in self?.drag(phase, x, y) }
    }

    private func drag(_ phase: GesturePhase, _ x: Double, _ y: Double) {
        let now = MainLoopTime.seconds
        switch phase {
        case .began:
            isMoving = false
            inertia.begin()
            lastDrag = (0, 0)
        case .changed:
            guard transform.isZoomed else { return }
            inertia.move(x: x, y: y, time: now)
            pan(x: x - lastDrag.x, y: y - lastDrag.y)
            lastDrag = (x, y)
        case .ended:
            guard transform.isZoomed else { return }
            inertia.release(time: now)
            guard Application.hasAnimations, !isMoving else { return }
            isMoving = true
            widget.onFrame { [weak self] _ in self?.glide() ?? false }
        }
    }

    private func glide() -> Bool {
        guard isMoving, let movement = inertia.step(time: MainLoopTime.seconds) else {
            isMoving = false
            return false
        }
        pan(x: movement.x, y: movement.y)
        return true
    }

    // MARK: Fingers

    private func connectFingers() {
        widget.onPinch { [weak self] phase, factor, x, y in
            guard let self else { return }
            if phase == .began { lastPinch = 1 }
            change { $0.zoom(by: factor / lastPinch, aroundX: x, y: y) }
            lastPinch = factor
        }
        widget.onTurn { [weak self] phase, angle in
            guard let self else { return }
            switch phase {
            case .began: lastTurn = 0
            case .changed:
                // Less than 15 degrees belong to a pinch.
                guard angle.magnitude > 0.26 else { return }
                rotate(by: (angle - lastTurn) * 180 / .pi)
                lastTurn = angle
            case .ended: change { $0.snapRotation() }
            }
        }
        widget.onSwipe { [weak self] x, y in
            guard let self, !transform.isZoomed, x.magnitude > 300, x.magnitude > y.magnitude * 2
            else { return }
            onSwipe?(x < 0 ? 1 : -1)
        }
    }
}

/// The time for the speed of movements.
private enum MainLoopTime {
    private static let start = ContinuousClock.now

    static var seconds: Double { (ContinuousClock.now - start) / .seconds(1) + 1 }
}
