internal import CAdwaita
internal import System

/// An image at its place in a canvas.
package struct PlacedTexture {
    let texture: Texture
    package var center: SIMD2<Double>
    let size: SIMD2<Double>
    let degrees: Double

    /// - Parameters:
    ///   - texture: The image.
    ///   - center: The center.
    ///   - size: The width and the height before the rotation.
    ///   - degrees: The rotation, clockwise.
    package init(
        _ texture: Texture, center: SIMD2<Double>, size: SIMD2<Double>, degrees: Double
    ) {
        (self.texture, self.center, self.size, self.degrees) = (texture, center, size, degrees)
    }
}

/// A widget that shows images.
package final class Canvas: Widget {
    /// Returns the images of a frame, each of which covers those before.
    package var onDraw: (() -> [PlacedTexture])?
    /// Called when the widget got another size.
    package var onResize: (() -> Void)?

    package init() {
        super.init(Self.new(Self.type, GTK_ACCESSIBLE_ROLE_IMG))
        gtk_widget_set_overflow(widget, GTK_OVERFLOW_HIDDEN)
        g_object_set_data(cast(), Self.key, CallbackContext.pointer(to: self))
    }

    isolated deinit { g_object_set_data(cast(), Self.key, nil) }

    private nonisolated static let key = "imagefeed-canvas"

    private static let type: GType = g_type_register_static_simple(
        gtk_widget_get_type(), "ImageFeedCanvas", guint(MemoryLayout<GtkWidgetClass>.size),
        { class_, _ in
            guard let class_ else { return }
            let functions = class_.assumingMemoryBound(to: GtkWidgetClass.self)
            functions.pointee.snapshot = { widget, snapshot in
                CallbackContext.enter(Canvas.context(of: widget), snapshot) {
                    (canvas: Canvas, snapshot) in
                    for image in canvas.onDraw?() ?? [] { canvas.draw(image, snapshot) }
                }
            }
            functions.pointee.size_allocate = { widget, _, _, _ in
                CallbackContext.enter(Canvas.context(of: widget), ()) { (canvas: Canvas, _) in
                    canvas.onResize?()
                }
            }
        },
        guint(MemoryLayout<GtkWidget>.size), nil, GTypeFlags(0))

    private nonisolated static func context(
        of widget: UnsafeMutablePointer<GtkWidget>?
    ) -> UnsafeMutableRawPointer? {
        widget?.withMemoryRebound(to: GObject.self, capacity: 1) { g_object_get_data($0, key) }
    }

    private func draw(_ image: PlacedTexture, _ snapshot: OpaquePointer?) {
        gtk_snapshot_save(snapshot)
        var place = graphene_point_t(x: Float(image.center.x), y: Float(image.center.y))
        gtk_snapshot_translate(snapshot, &place)
        if image.degrees != 0 { gtk_snapshot_rotate(snapshot, Float(image.degrees)) }
        let (width, height) = (Float(image.size.x), Float(image.size.y))
        var bounds = Self.rectangle(-width / 2, -height / 2, width, height)
        if image.texture.isTransparent { drawCheckerboard(&bounds, snapshot) }
        gtk_snapshot_append_texture(snapshot, image.texture.raw, &bounds)
        gtk_snapshot_restore(snapshot)
    }

    private static func rectangle(
        _ x: Float, _ y: Float, _ width: Float, _ height: Float
    ) -> graphene_rect_t {
        graphene_rect_t(
            origin: graphene_point_t(x: x, y: y),
            size: graphene_size_t(width: width, height: height))
    }

    /// Draws the gray squares that are visible through a transparent image.
    private func drawCheckerboard(_ bounds: inout graphene_rect_t, _ snapshot: OpaquePointer?) {
        var tile = Self.rectangle(0, 0, 20, 20)
        gtk_snapshot_push_repeat(snapshot, &bounds, &tile)
        for (area, gray) in [
            (tile, Float(0.4)), (Self.rectangle(0, 0, 10, 10), 0.6),
            (Self.rectangle(10, 10, 10, 10), 0.6),
        ] {
            var area = area
            var color = GdkRGBA(red: gray, green: gray, blue: gray, alpha: 1)
            gtk_snapshot_append_color(snapshot, &color, &area)
        }
        gtk_snapshot_pop(snapshot)
    }
}
