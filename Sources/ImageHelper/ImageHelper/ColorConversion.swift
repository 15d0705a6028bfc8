internal import CImages
internal import Glibc

/// The meaning of the colors in an image.
enum ColorDescription {
    case sRGB
    /// An ICC profile.
    case profile([UInt8])
    /// Primaries and transfer characteristics as numbers of ITU-T H.273.
    case codes(primaries: Int, transfer: Int)
    /// A power function, and the chromaticities of white, red, green and blue if they are known.
    case gamma(Double, [Double]?)
}

/// A conversion of decoded rows to sRGB with the bytes blue, green, red and alpha.
final class ColorConversion {
    private let functions: shim_color?
    private let transform: cmsHTRANSFORM?
    private let layout: RowLayout
    /// The number of bytes of a channel. The high byte of a number of two bytes is the second one.
    private let channelBytes: Int

    /// - Parameters:
    ///   - functions: Little CMS. Without the library, all colors are taken as sRGB.
    ///   - layout: The contents of the rows.
    init(_ functions: shim_color?, _ layout: RowLayout) {
        self.layout = layout
        channelBytes = layout.isDeep ? 2 : 1
        self.functions = functions
        transform = functions?.transform(layout)
    }

    deinit { if let transform { functions?.cmsDeleteTransform(transform) } }

    /// Converts pixels.
    func convert(
        _ row: UnsafeRawPointer, _ output: UnsafeMutablePointer<UInt8>, _ count: Int
    ) {
        let input = row.assumingMemoryBound(to: UInt8.self) + (channelBytes - 1)
        if let transform, let functions {
            functions.cmsDoTransform(transform, row, output, UInt32(count))
        } else if layout.channels == .rgba {
            return swapChannels(input, output, count)
        } else {
            convertInks(input, output, count)
        }
        let (isOpaque, pixelBytes) = (layout.channels == .cmyk, layout.pixelBytes)
        for x in 0..<count {
            output[x * 4 + 3] = isOpaque ? 255 : input[(x + 1) * pixelBytes - channelBytes]
        }
    }

    private func swapChannels(
        _ input: UnsafePointer<UInt8>, _ output: UnsafeMutablePointer<UInt8>, _ count: Int
    ) {
        var (input, output) = (input, output)
        for _ in 0..<count {
            output[0] = input[2 * channelBytes]
            output[1] = input[channelBytes]
            output[2] = input[0]
            output[3] = input[3 * channelBytes]
            input += 4 * channelBytes
            output += 4
        }
    }

    /// Converts amounts of ink without a profile.
    private func convertInks(
        _ input: UnsafePointer<UInt8>, _ output: UnsafeMutablePointer<UInt8>, _ count: Int
    ) {
        var input = input
        for x in 0..<count {
            let light = 255 - UInt32(input[3 * channelBytes])
            for ink in 0..<3 {
                let value = (255 - UInt32(input[ink * channelBytes])) * light / 255
                output[x * 4 + 2 - ink] = UInt8(value)
            }
            input += layout.pixelBytes
        }
    }
}

extension shim_color {
    /// Returns a transform to sRGB; nil if the colors are sRGB already, or if the description is not usable.
    fileprivate func transform(_ layout: RowLayout) -> cmsHTRANSFORM? {
        guard let profile = profile(layout.colors) else { return nil }
        defer { _ = self.cmsCloseProfile(profile) }
        let format: Int
        switch (Int(self.cmsGetColorSpace(profile)), layout.channels) {
        case (SHIM_cmsSigRgbData, .rgba):
            format = layout.isDeep ? SHIM_TYPE_RGBA_16 : SHIM_TYPE_RGBA_8
        case (SHIM_cmsSigGrayData, .rgba) where layout.isGray:
            format = layout.isDeep ? SHIM_GRAY_OF_FOUR_16 : SHIM_GRAY_OF_FOUR_8
        case (SHIM_cmsSigCmykData, .cmyk), (SHIM_cmsSigCmykData, .cmyka):
            let extra = layout.channels == .cmyka ? SHIM_EXTRA_CHANNEL : 0
            format = (layout.isDeep ? SHIM_TYPE_CMYK_16 : SHIM_TYPE_CMYK_8) | extra
        default: return nil
        }
        let output = self.cmsCreate_sRGBProfile()
        defer { _ = self.cmsCloseProfile(output) }
        guard
            let transform = self.cmsCreateTransform(
                profile, UInt32(format), output, UInt32(SHIM_TYPE_BGRA_8),
                UInt32(SHIM_INTENT_PERCEPTUAL), UInt32(SHIM_cmsFLAGS_NOCACHE))
        else { return nil }
        if layout.channels == .rgba, isIdentity(transform, layout) {
            self.cmsDeleteTransform(transform)
            return nil
        }
        return transform
    }

    /// Returns true if a transform changes no color visibly, as most embedded profiles are sRGB.
    private func isIdentity(_ transform: cmsHTRANSFORM, _ layout: RowLayout) -> Bool {
        let levels: [UInt8] = [0, 40, 90, 128, 180, 255]
        var input: [UInt8] = []
        for red in levels {
            for green in levels { for blue in levels { input += [red, green, blue, 255] } }
        }
        let count = input.count / 4
        let bytes = layout.isDeep ? input.flatMap { [$0, $0] } : input
        var output = [UInt8](repeating: 0, count: count * 4)
        self.cmsDoTransform(transform, bytes, &output, UInt32(count))
        return (0..<count).allSatisfy { pixel in
            (0..<3).allSatisfy { channel in
                // The output has blue first.
                let before: UInt8 = input[pixel * 4 + channel]
                let after: UInt8 = output[pixel * 4 + 2 - channel]
                return abs(Int(before) - Int(after)) <= 2
            }
        }
    }

    private func profile(_ colors: ColorDescription) -> cmsHPROFILE? {
        switch colors {
        case .sRGB: return nil
        case .profile(let bytes):
            return self.cmsOpenProfileFromMem(bytes, UInt32(bytes.count))
        case .codes(let primaries, let transfer):
            guard let curve = ColorDescription.samples(transfer) else { return nil }
            let points =
                switch primaries {
                // BT.470 M, BT.470 BG, BT.601, BT.2020, Display P3; otherwise BT.709.
                case 4: [0.310, 0.316, 0.67, 0.33, 0.21, 0.71, 0.14, 0.08]
                case 5: [0.3127, 0.3290, 0.64, 0.33, 0.29, 0.60, 0.15, 0.06]
                case 6, 7: [0.3127, 0.3290, 0.630, 0.340, 0.310, 0.595, 0.155, 0.070]
                case 9: [0.3127, 0.3290, 0.708, 0.292, 0.170, 0.797, 0.131, 0.046]
                case 11: [0.314, 0.351, 0.680, 0.320, 0.265, 0.690, 0.150, 0.060]
                case 12: [0.3127, 0.3290, 0.680, 0.320, 0.265, 0.690, 0.150, 0.060]
                default: Self.bt709
                }
            return profile(points, curve)
        case .gamma(let exponent, let points):
            return profile(points ?? Self.bt709, ColorDescription.samples { pow($0, exponent) })
        }
    }

    /// The chromaticities of sRGB.
    static let bt709 = [0.3127, 0.3290, 0.64, 0.33, 0.30, 0.60, 0.15, 0.06]

    private func profile(_ points: [Double], _ curve: [UInt16]) -> cmsHPROFILE? {
        func point(_ index: Int) -> cmsCIExyY {
            cmsCIExyY(x: points[index * 2], y: points[index * 2 + 1], Y: 1)
        }
        guard let curve = self.cmsBuildTabulatedToneCurve16(nil, UInt32(curve.count), curve)
        else { return nil }
        defer { self.cmsFreeToneCurve(curve) }
        var white = point(0)
        var primaries = cmsCIExyYTRIPLE(Red: point(1), Green: point(2), Blue: point(3))
        let curves: [OpaquePointer?] = [curve, curve, curve]
        return self.cmsCreateRGBProfile(&white, &primaries, curves)
    }
}

/// The light of encoded values.
///
/// Source: ITU-T H.273 table 3; SMPTE ST 2084; ITU-R BT.2100.
extension ColorDescription {
    /// Returns the light for 4,096 encoded values from 0 to 1; nil if the curve is unknown or that of sRGB with the
    /// primaries of sRGB.
    fileprivate static func samples(_ transfer: Int) -> [UInt16]? {
        switch transfer {
        // The curve of BT.709 is that of cameras; displays and converters use that of sRGB.
        case 1, 2, 6, 13, 14, 15:
            samples { $0 <= 0.04045 ? $0 / 12.92 : pow(($0 + 0.055) / 1.055, 2.4) }
        case 4: samples { pow($0, 2.2) }
        case 5: samples { pow($0, 2.8) }
        case 8: samples { $0 }
        case 16: samples { compressed(perceptual($0)) }
        case 18: samples { compressed(hybrid($0)) }
        default: nil
        }
    }

    fileprivate static func samples(_ curve: (Double) -> Double) -> [UInt16] {
        (0..<4096).map { UInt16((min(max(curve(Double($0) / 4095), 0), 1) * 65_535).rounded()) }
    }

    /// Light relative to the white of a page, which has 203 cd/m².
    private static func perceptual(_ value: Double) -> Double {
        let power = pow(value, 1 / 78.84375)
        let light = pow(
            max(power - 0.8359375, 0) / (18.8515625 - 18.6875 * power), 1 / 0.1593017578125)
        return light * 10_000 / 203
    }

    private static func hybrid(_ value: Double) -> Double {
        let scene =
            value <= 0.5
            ? value * value / 3 : (exp((value - 0.55991073) / 0.17883277) + 0.28466892) / 12
        return pow(scene, 1.2) * 1000 / 203
    }

    /// Compresses light above three quarters of white, so that bright parts keep their structure.
    private static func compressed(_ light: Double) -> Double {
        light <= 0.75 ? light : 0.75 + 0.25 * (1 - exp((0.75 - light) / 0.75))
    }
}
