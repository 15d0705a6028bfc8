internal import CImages
internal import Glibc
internal import ImageMetadata
internal import ImageProtocol

/// A decoder of TIFF with libtiff. It reads one image of a file.
extension shim_tiff: ImageDecoder {
    static func load() throws(ImageFailure) -> shim_tiff {
        try loadLibrary(
            ["libtiff.so.6", "libtiff.so.5"], package: "libtiff6 or libtiff", shim_tiff(),
            shim_tiff_load)
    }

    func decode(_ file: UnsafeRawBufferPointer, into image: ImageBuilder) throws(ImageFailure) {
        var source = shim_tiff_file()
        source.file = file.bindMemory(to: UInt8.self).baseAddress
        source.bytes = UInt64(file.count)
        try withUnsafeMutablePointer(to: &source) { source throws(ImageFailure) in
            try withUnsafePointer(to: self) { functions throws(ImageFailure) in
                guard let tiff = shim_tiff_open(functions, source) else { throw .damaged }
                defer { functions.pointee.TIFFClose(tiff) }
                if let offset = image.header.tableOffset,
                    functions.pointee.TIFFSetSubDirectory(tiff, UInt64(offset)) == 0
                {
                    throw .damaged
                }
                let isCut = shim_tiff_cut(functions, tiff, source) != 0
                try Reading(functions, tiff).read(into: image)
                // The library reports the missing part of a JPEG as a warning only.
                if isCut { throw .damaged }
            }
        }
    }

    /// An open file.
    private struct Reading {
        let functions: UnsafePointer<shim_tiff>
        let tiff: OpaquePointer
        let width: Int
        let height: Int
        let channels: Int
        let bits: Int
        var isDeep: Bool { bits == 16 }

        init(_ functions: UnsafePointer<shim_tiff>, _ tiff: OpaquePointer) throws(ImageFailure) {
            self.functions = functions
            self.tiff = tiff
            width = Int(shim_tiff_number32(functions, tiff, UInt32(SHIM_TIFFTAG_IMAGEWIDTH)))
            height = Int(shim_tiff_number32(functions, tiff, UInt32(SHIM_TIFFTAG_IMAGELENGTH)))
            channels = Int(
                shim_tiff_number16(functions, tiff, UInt32(SHIM_TIFFTAG_SAMPLESPERPIXEL)))
            bits = Int(shim_tiff_number16(functions, tiff, UInt32(SHIM_TIFFTAG_BITSPERSAMPLE)))
            try ImageLimits.check(width, height)
        }

        private func number(_ tag: Int) -> Int {
            Int(shim_tiff_number16(functions, tiff, UInt32(tag)))
        }

        func read(into image: ImageBuilder) throws(ImageFailure) {
            let compression = number(SHIM_TIFFTAG_COMPRESSION)
            guard functions.pointee.TIFFIsCODECConfigured(UInt16(compression)) != 0 else {
                throw Self.notSupported("compression \(compression)")
            }
            let photometric = number(SHIM_TIFFTAG_PHOTOMETRIC)
            let colors: Int? =
                switch photometric {
                case SHIM_PHOTOMETRIC_MINISBLACK, SHIM_PHOTOMETRIC_MINISWHITE: 1
                case SHIM_PHOTOMETRIC_PALETTE where bits <= 8: 1
                case SHIM_PHOTOMETRIC_RGB: 3
                case SHIM_PHOTOMETRIC_SEPARATED: 4
                default: nil
                }
            // Unsigned numbers of one or two bytes, in rows or tiles, and smaller ones of several channels. The library
            // converts images with one channel of smaller numbers.
            if let colors, channels >= colors,
                (channels > 1 ? [1, 2, 4, 8, 16] : [8, 16]).contains(bits),
                number(SHIM_TIFFTAG_SAMPLEFORMAT) == 1
            {
                try readRows(colors, photometric, into: image)
            } else {
                let grays = [SHIM_PHOTOMETRIC_MINISBLACK, SHIM_PHOTOMETRIC_MINISWHITE]
                try readWhole(isGray: grays.contains(photometric), into: image)
            }
        }

        private static func notSupported(_ reason: String) -> ImageFailure {
            .notSupported(
                "This kind of TIFF image is not supported (\(reason)); convert the image to PNG.")
        }

        private var profile: ColorDescription {
            var count: UInt32 = 0
            guard let bytes = shim_tiff_profile(functions, tiff, &count), count > 0 else {
                return .sRGB
            }
            return .profile(Array(UnsafeRawBufferPointer(start: bytes, count: Int(count))))
        }

        /// Returns the red, green and blue parts of the color of each value of a byte; none if the values are the colors.
        private func palette(_ photometric: Int) throws(ImageFailure) -> [UInt8] {
            switch photometric {
            case SHIM_PHOTOMETRIC_MINISWHITE:
                return (0..<768).map { ~UInt8(truncatingIfNeeded: $0) }
            case SHIM_PHOTOMETRIC_PALETTE:
                var parts = [UInt8](repeating: 0, count: 768)
                guard shim_tiff_palette(functions, tiff, Int32(bits), &parts) != 0 else {
                    throw .damaged
                }
                return parts
            default: return []
            }
        }

        /// Reads rows, or rows of tiles, with their own depth and profile. An image with a plane for each channel is read
        /// before its first row is passed.
        private func readRows(
            _ colors: Int, _ photometric: Int, into image: ImageBuilder
        ) throws(ImageFailure) {
            let sampleBytes = isDeep ? 2 : 1
            let pixelBytes = channels * sampleBytes
            let isTiled = functions.pointee.TIFFIsTiled(tiff) != 0
            var (tileWidth, tileHeight) = (width, 1)
            if isTiled {
                tileWidth = Int(shim_tiff_number32(functions, tiff, UInt32(SHIM_TIFFTAG_TILEWIDTH)))
                tileHeight = Int(
                    shim_tiff_number32(functions, tiff, UInt32(SHIM_TIFFTAG_TILELENGTH)))
                try ImageLimits.check(tileWidth, tileHeight)
            }
            let rowSize =
                isTiled ? functions.pointee.TIFFTileRowSize : functions.pointee.TIFFScanlineSize
            let isPlanar = number(SHIM_TIFFTAG_PLANARCONFIG) != SHIM_PLANARCONFIG_CONTIG
            let readChannels = isPlanar ? 1 : channels
            let rowBytes = (tileWidth * readChannels * bits + 7) / 8
            let mask = UInt8(1 << min(bits, 8) - 1)
            guard rowSize?(tiff) == rowBytes else { throw .damaged }
            let blockHeight =
                isPlanar ? (height + tileHeight - 1) / tileHeight * tileHeight : tileHeight
            let palette = try palette(photometric)
            // 1 is alpha that is multiplied already, 2 is alpha. A palette contains colors that are not multiplied.
            let extra = shim_tiff_extra(functions, tiff)
            let hasAlpha = channels > colors && (extra == 1 || extra == 2)
            let isMultiplied =
                hasAlpha && extra == 1 && photometric != SHIM_PHOTOMETRIC_PALETTE
            var layout = RowLayout(isDeep: isDeep)
            if colors == 4 { layout.channels = hasAlpha ? .cmyka : .cmyk }
            layout.isGray = colors == 1 && photometric != SHIM_PHOTOMETRIC_PALETTE
            layout.colors = profile
            try image.begin(width: width, height: height, layout)
            let tile = try ImageLimits.allocate(
                width: tileWidth, height: tileHeight, pixelBytes: readChannels * sampleBytes)
            defer { free(tile) }
            let lines = try ImageLimits.allocate(
                width: width, height: blockHeight, pixelBytes: pixelBytes)
            defer { free(lines) }
            /// Reads a tile, or a row, and copies its pixels or the samples of its plane.
            func read(_ x: Int, _ y: Int, _ plane: Int) -> Bool {
                let (column, row, sample) = (UInt32(x), UInt32(y), UInt16(plane))
                let isRead =
                    isTiled
                    ? functions.pointee.TIFFReadTile(tiff, tile, column, row, 0, sample) >= 0
                    : functions.pointee.TIFFReadScanline(tiff, tile, row, sample) >= 0
                let count = min(tileWidth, width - x)
                for row in 0..<(isRead ? tileHeight : 0) {
                    let source = tile + row * rowBytes
                    let place =
                        lines + ((y % blockHeight + row) * width + x) * pixelBytes
                        + plane * sampleBytes
                    guard bits < 8 else {
                        for index in 0..<(isPlanar ? count : 1) {
                            memcpy(
                                place + index * pixelBytes, source + index * sampleBytes,
                                isPlanar ? sampleBytes : count * pixelBytes)
                        }
                        continue
                    }
                    for index in 0..<count * readChannels {
                        let bit = index * bits
                        let byte = source.load(fromByteOffset: bit / 8, as: UInt8.self)
                        let value = byte >> (8 - bits - bit % 8) & mask
                        place.storeBytes(
                            of: value * (255 / mask),
                            toByteOffset: index / readChannels * pixelBytes + index % readChannels,
                            as: UInt8.self)
                    }
                }
                return isRead
            }
            let rowChannels = layout.channels.count
            var pixels = [UInt8](repeating: 255, count: width * layout.pixelBytes)
            var isWhole = true
            for y in 0..<height {
                if y % blockHeight == 0 {
                    for plane in 0..<(isPlanar ? channels : 1) {
                        for top in stride(from: y, to: min(y + blockHeight, height), by: tileHeight)
                        {
                            for x in stride(from: 0, to: width, by: tileWidth) {
                                isWhole = read(x, top, plane) && isWhole
                                guard isWhole || isPlanar else { throw .damaged }
                            }
                        }
                    }
                }
                let line = UnsafeRawBufferPointer(
                    start: lines + y % blockHeight * width * pixelBytes, count: width * pixelBytes)
                for x in 0..<width {
                    for channel in 0..<(hasAlpha ? rowChannels : max(3, colors)) {
                        let isAlpha = hasAlpha && channel == rowChannels - 1
                        let source = isAlpha ? colors : min(channel, colors - 1)
                        for byte in 0..<sampleBytes {
                            let value = line[(x * channels + source) * sampleBytes + byte]
                            pixels[(x * rowChannels + channel) * sampleBytes + byte] =
                                palette.isEmpty || isAlpha
                                ? value : palette[channel * 256 + Int(value)]
                        }
                    }
                }
                if isMultiplied {
                    pixels.withUnsafeMutableBytes { pixels in
                        if isDeep {
                            divideByAlpha(pixels.bindMemory(to: UInt16.self), rowChannels)
                        } else {
                            divideByAlpha(pixels.bindMemory(to: UInt8.self), rowChannels)
                        }
                    }
                }
                image.add(pixels)
            }
            if !isWhole { throw .damaged }
        }

        /// Reads an image of any kind, with eight bits, as RGB whose profile is that of the file.
        private func readWhole(isGray: Bool, into image: ImageBuilder) throws(ImageFailure) {
            var message = [CChar](repeating: 0, count: 1024)
            guard functions.pointee.TIFFRGBAImageOK(tiff, &message) != 0 else {
                let bytes = message.prefix { $0 != 0 }.map(UInt8.init(bitPattern:))
                let text = String(decoding: bytes, as: UTF8.self).replacing("Sorry, ", with: "")
                let isFloat = number(SHIM_TIFFTAG_SAMPLEFORMAT) == SHIM_SAMPLEFORMAT_IEEEFP
                throw Self.notSupported(isFloat ? "floating-point samples" : text)
            }
            let pixels = try ImageLimits.allocate(width: width, height: height)
            defer { free(pixels) }
            shim_tiff_set_white(functions, tiff)
            // With the orientation of the file, the library leaves the rows as they are.
            let isWhole =
                functions.pointee.TIFFReadRGBAImageOriented(
                    tiff, UInt32(width), UInt32(height),
                    pixels.assumingMemoryBound(to: UInt32.self),
                    Int32(number(SHIM_TIFFTAG_ORIENTATION)), 1) != 0
            divideByAlpha(
                UnsafeMutableBufferPointer(
                    start: pixels.assumingMemoryBound(to: UInt8.self), count: width * height * 4))
            var layout = RowLayout(isGray: isGray)
            layout.colors = profile
            try image.begin(width: width, height: height, layout)
            image.add(pixels, stride: width * 4)
            if !isWhole { throw .damaged }
        }
    }
}
