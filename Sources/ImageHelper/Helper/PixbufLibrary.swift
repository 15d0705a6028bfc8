internal import CPixbuf
internal import Glibc
internal import ImageProtocol
internal import ProviderKit

/// The functions and format modules of gdk-pixbuf, loaded before the restrictions are applied.
struct PixbufLibrary {
    let functions: shim_pixbuf
    /// The names that gdk-pixbuf uses for the formats it can decode on this system.
    private var types: [ImageFormat: String] = [:]

    init(_ name: String = "libgdk_pixbuf-2.0.so.0") throws(ImageFailure) {
        var functions = shim_pixbuf()
        if let reason = shim_pixbuf_load(&functions, name) {
            throw .notSupported(
                "Images cannot be converted without gdk-pixbuf; install the package"
                    + " libgdk-pixbuf-2.0-0 or gdk-pixbuf2 (\(String(cString: reason))).")
        }
        self.functions = functions
        // Writing PNG texts converts them to Latin-1. The C library loads a module for the conversion, and keeps it
        // loaded while a converter is open.
        _ = iconv_open("ISO-8859-1", "UTF-8")
        for format in ImageFormat.allCases {
            // Creating a loader loads its module, which could not be opened later.
            types[format] = Self.names(of: format).first { name in
                guard let loader = functions.gdk_pixbuf_loader_new_with_type(name, nil) else {
                    return false
                }
                _ = functions.gdk_pixbuf_loader_close(loader, nil)
                functions.g_object_unref(UnsafeMutableRawPointer(loader))
                return true
            }
        }
    }

    /// Creates a loader for a format. The caller closes and releases it.
    ///
    /// - Throws: ``ImageFailure/notSupported(_:)`` with the package to install.
    func makeLoader(_ format: ImageFormat) throws(ImageFailure) -> OpaquePointer {
        guard let type = types[format],
            let loader = functions.gdk_pixbuf_loader_new_with_type(type, nil)
        else {
            throw .notSupported(
                "Images of the type \(format.mediaType) cannot be decoded on this system;"
                    + " install \(Self.package(for: format)).")
        }
        return loader
    }

    /// Converts a GLib error, and frees it.
    func failure(_ error: UnsafeMutablePointer<GError>?) -> ImageFailure {
        guard let error else { return .damaged }
        defer { functions.g_error_free(error) }
        guard error.pointee.domain == functions.gdk_pixbuf_error_quark() else { return .damaged }
        return error.pointee.code == Int32(SHIM_GDK_PIXBUF_ERROR_INSUFFICIENT_MEMORY)
            ? .tooLarge : .damaged
    }

    private static func names(of format: ImageFormat) -> [String] {
        switch format {
        case .jpeg: ["jpeg"]
        case .png: ["png"]
        case .webP: ["webp"]
        case .gif: ["gif"]
        case .tiff: ["tiff"]
        case .bmp: ["bmp"]
        case .avif: ["avif", "heif/avif", "heif"]
        case .heic: ["heif/avif", "heif", "heic"]
        case .jpegXL: ["jxl"]
        }
    }

    private static func package(for format: ImageFormat) -> String {
        switch format {
        case .jpeg, .png, .gif, .tiff, .bmp: "gdk-pixbuf and its loaders"
        case .webP: "webp-pixbuf-loader"
        case .avif: "libavif-gdk-pixbuf"
        case .heic: "heif-gdk-pixbuf"
        case .jpegXL: "libjxl-gdk-pixbuf"
        }
    }
}
