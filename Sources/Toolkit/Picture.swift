internal import CAdwaita

/// An image that fills its place.
@MainActor
package final class Picture: Widget {
    package var texture: Texture? {
        didSet { gtk_picture_set_paintable(opaque, texture?.raw) }
    }

    package init() {
        super.init(gtk_picture_new())
        gtk_picture_set_content_fit(opaque, GTK_CONTENT_FIT_COVER)
        gtk_picture_set_can_shrink(opaque, 1)
    }
}

/// An icon of the icon theme.
@MainActor
package final class Icon: Widget {
    package init(_ name: String, size: Int = 16) {
        super.init(gtk_image_new_from_icon_name(name))
        gtk_image_set_pixel_size(opaque, Int32(size))
    }
}

/// A round picture of a user, or the initials.
@MainActor
package final class Avatar: Widget {
    package init(size: Int, name: String) {
        super.init(adw_avatar_new(Int32(size), name, 1))
    }

    package func setTexture(_ texture: Texture?) {
        adw_avatar_set_custom_image(opaque, texture?.raw)
    }
}
