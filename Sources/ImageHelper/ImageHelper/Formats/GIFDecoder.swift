internal import CImages
internal import Glibc
internal import ImageMetadata
internal import ImageProtocol

/// A decoder of GIF with giflib. It decodes the first frame.
extension shim_gif: ImageDecoder {
    static func load() throws(ImageFailure) -> shim_gif {
        try loadLibrary(
            ["libgif.so.7"], package: "libgif7 or giflib", shim_gif(), shim_gif_load)
    }

    func decode(_ file: UnsafeRawBufferPointer, into image: ImageBuilder) throws(ImageFailure) {
        var rest = file
        try withUnsafeMutablePointer(to: &rest) { rest throws(ImageFailure) in
            let gif = self.DGifOpen(
                rest,
                { gif, bytes, count in
                    guard
                        let rest = gif?.pointee.UserData?
                            .assumingMemoryBound(to: UnsafeRawBufferPointer.self)
                    else { return 0 }
                    let read = min(Int(count), rest.pointee.count)
                    guard read > 0, let bytes, let start = rest.pointee.baseAddress
                    else { return 0 }
                    memcpy(bytes, start, read)
                    rest.pointee = UnsafeRawBufferPointer(
                        rebasing: rest.pointee.dropFirst(read))
                    return Int32(read)
                }, nil)
            guard let gif else { throw .damaged }
            defer { _ = self.DGifCloseFile(gif, nil) }
            try readFrame(gif, into: image)
        }
    }

    private func check(_ result: Int32) throws(ImageFailure) {
        guard result == Int32(SHIM_GIF_OK) else { throw .damaged }
    }

    /// Reads the records up to the first frame, and the frame.
    private func readFrame(
        _ gif: UnsafeMutablePointer<GifFileType>, into image: ImageBuilder
    ) throws(ImageFailure) {
        var transparent: UInt8?
        while true {
            var type: UInt32 = 0
            if self.DGifGetRecordType(gif, &type) != Int32(SHIM_GIF_OK) {
                // Decoders skip stray bytes between records.
                guard gif.pointee.Error == Int32(SHIM_D_GIF_ERR_WRONG_RECORD) else {
                    throw .damaged
                }
                continue
            }
            switch Int(type) {
            case SHIM_EXTENSION_RECORD_TYPE:
                var kind: Int32 = 0
                var block: UnsafeMutablePointer<UInt8>?
                try check(self.DGifGetExtension(gif, &kind, &block))
                while let bytes = block {
                    // The first byte is the length. The lowest bit of the flags: there is a transparent color.
                    if kind == Int32(SHIM_GRAPHICS_EXT_FUNC_CODE), bytes[0] >= 4 {
                        transparent = bytes[1] & 1 == 1 ? bytes[4] : nil
                    }
                    try check(self.DGifGetExtensionNext(gif, &block))
                }
            case SHIM_IMAGE_DESC_RECORD_TYPE:
                try check(self.DGifGetImageDesc(gif))
                return try readPixels(gif, transparent, into: image)
            default: throw .damaged
            }
        }
    }

    private func readPixels(
        _ gif: UnsafeMutablePointer<GifFileType>, _ transparent: UInt8?, into image: ImageBuilder
    ) throws(ImageFailure) {
        let frame = gif.pointee.Image
        let (width, height) = (image.header.width, image.header.height)
        let (left, top) = (Int(frame.Left), Int(frame.Top))
        let (columns, rows) = (Int(frame.Width), Int(frame.Height))
        try ImageLimits.check(width, height)
        guard let map = frame.ColorMap ?? gif.pointee.SColorMap, left >= 0, top >= 0, columns > 0,
            rows > 0, left + columns <= width, top + rows <= height
        else { throw .damaged }
        let colors = (0..<256).map { index -> SIMD4<UInt8> in
            guard index < Int(map.pointee.ColorCount), index != transparent.map(Int.init) else {
                return .zero
            }
            let color = map.pointee.Colors[index]
            return [color.Red, color.Green, color.Blue, 255]
        }
        try image.begin(width: width, height: height)
        let memory = try ImageLimits.allocate(width: width, height: height)
        defer { free(memory) }
        let pixels = memory.assumingMemoryBound(to: SIMD4<UInt8>.self)
        var line = [UInt8](repeating: 0, count: columns)
        // An interlaced frame has every eighth row first.
        let passes = frame.Interlace ? [(0, 8), (4, 8), (2, 4), (1, 2)] : [(0, 1)]
        var isDamaged = false
        for (first, step) in passes where !isDamaged {
            for y in stride(from: first, to: rows, by: step) {
                isDamaged =
                    self.DGifGetLine(gif, &line, Int32(columns)) != Int32(SHIM_GIF_OK)
                if isDamaged { break }
                for x in 0..<columns {
                    pixels[(top + y) * width + left + x] = colors[Int(line[x])]
                }
            }
        }
        image.add(memory, stride: width * 4)
        if isDamaged { throw .damaged }
    }
}
