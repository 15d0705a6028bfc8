internal import CAdwaita
internal import System

/// A widget that its owner draws.
@MainActor
package final class Canvas: Widget {
    /// Draws the content.
    package var onDraw: ((Drawing) -> Void)?
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
                    if let snapshot { canvas.onDraw?(Drawing(snapshot: snapshot)) }
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
}

/// The drawing operations of one frame.
@MainActor
package struct Drawing {
    let snapshot: OpaquePointer

    /// Draws an image around a center.
    ///
    /// - Parameters:
    ///   - texture: The image.
    ///   - center: The center.
    ///   - size: The width and the height before the rotation.
    ///   - degrees: The rotation, clockwise.
    package func image(
        _ texture: Texture, center: SIMD2<Double>, size: SIMD2<Double>, degrees: Double
    ) {
        gtk_snapshot_save(snapshot)
        var place = graphene_point_t(x: Float(center.x), y: Float(center.y))
        gtk_snapshot_translate(snapshot, &place)
        if degrees != 0 { gtk_snapshot_rotate(snapshot, Float(degrees)) }
        var bounds = graphene_rect_t(
            origin: graphene_point_t(x: Float(-size.x / 2), y: Float(-size.y / 2)),
            size: graphene_size_t(width: Float(size.x), height: Float(size.y)))
        if texture.isTransparent { checkerboard(&bounds) }
        gtk_snapshot_append_texture(snapshot, texture.raw, &bounds)
        gtk_snapshot_restore(snapshot)
    }

    /// Draws the gray squares that are visible through a transparent image.
    private func checkerboard(_ bounds: inout graphene_rect_t) {
        func square(_ x: Float, _ y: Float, _ side: Float) -> graphene_rect_t {
            graphene_rect_t(
                origin: graphene_point_t(x: x, y: y),
                size: graphene_size_t(width: side, height: side))
        }
        var tile = square(0, 0, 20)
        gtk_snapshot_push_repeat(snapshot, &bounds, &tile)
        for (area, gray) in [
            (tile, Float(0.4)), (square(0, 0, 10), 0.6), (square(10, 10, 10), 0.6),
        ] {
            var area = area
            var color = GdkRGBA(red: gray, green: gray, blue: gray, alpha: 1)
            gtk_snapshot_append_color(snapshot, &color, &area)
        }
        gtk_snapshot_pop(snapshot)
    }
}
