internal import Glibc

/// A scaler with the Lanczos filter of three lobes, which keeps lines of one pixel sharp. It receives rows and keeps
/// about six scaled ones, so that its memory does not depend on the height.
///
/// Source: Ken Turkowski, "Filters for Common Resampling Tasks", Graphics Gems I.
final class Scaler {
    private let width: Int
    private let horizontal: [Contribution]
    private let vertical: [Contribution]
    private let weights: (horizontal: [Float], vertical: [Float])
    private let placement: Placement
    private var nextRow = 0
    /// The scaled rows that later rows still contribute to, beginning with the number `firstActive`.
    private var active: [[SIMD4<Float>]] = []
    private var firstActive = 0
    private var source: [SIMD4<Float>]
    private var narrowed: [SIMD4<Float>]

    /// The pixels that contribute to a scaled pixel: the first one and their number, and the index of the first weight.
    private typealias Contribution = (start: Int, count: Int, weight: Int)

    /// - Parameters:
    ///   - old: The size of the rows that are added.
    ///   - new: The size of the scaled image.
    ///   - placement: The places of the scaled pixels.
    init(
        from old: (width: Int, height: Int), to new: (width: Int, height: Int), placement: Placement
    ) {
        self.placement = placement
        width = new.width
        let columns = Self.contributions(from: old.width, to: new.width)
        let rows = Self.contributions(from: old.height, to: new.height)
        (horizontal, vertical) = (columns.0, rows.0)
        weights = (columns.1, rows.1)
        source = [SIMD4<Float>](repeating: .zero, count: old.width)
        narrowed = [SIMD4<Float>](repeating: .zero, count: new.width)
    }

    private static func contributions(from old: Int, to new: Int) -> ([Contribution], [Float]) {
        let ratio = Double(old) / Double(new)
        let stretch = max(1, ratio)
        var contributions: [Contribution] = []
        var weights: [Float] = []
        for index in 0..<new {
            let center = (Double(index) + 0.5) * ratio
            let first = max(0, Int((center - 3 * stretch).rounded(.down)))
            let last = min(old - 1, Int((center + 3 * stretch).rounded(.up)))
            let values = (first...last).map { lanczos((Double($0) + 0.5 - center) / stretch) }
            let sum = values.reduce(0, +)
            contributions.append((first, values.count, weights.count))
            weights += values.map { Float($0 / sum) }
        }
        return (contributions, weights)
    }

    private static func lanczos(_ x: Double) -> Double {
        if x == 0 { return 1 }
        guard x.magnitude < 3 else { return 0 }
        let angle = Double.pi * x
        return 3 * sin(angle) * sin(angle / 3) / (angle * angle)
    }

    /// Adds the next row of pixels with the bytes blue, green, red and alpha, not multiplied by alpha.
    func add(_ pixels: UnsafePointer<UInt8>) {
        narrow(pixels)
        let y = nextRow
        nextRow += 1
        while firstActive + active.count < vertical.count,
            vertical[firstActive + active.count].start <= y
        {
            active.append([SIMD4<Float>](repeating: .zero, count: width))
        }
        for index in active.indices {
            let contribution = vertical[firstActive + index]
            let position = y - contribution.start
            guard position < contribution.count else { continue }
            let weight = weights.vertical[contribution.weight + position]
            guard weight != 0 else { continue }
            active[index].withUnsafeMutableBufferPointer { sum in
                narrowed.withUnsafeBufferPointer { row in
                    for x in 0..<width { sum[x] += row[x] * weight }
                }
            }
        }
        while let row = active.first {
            let contribution = vertical[firstActive]
            guard contribution.start + contribution.count <= nextRow else { break }
            write(row)
            active.removeFirst()
            firstActive += 1
        }
    }

    /// Scales a row horizontally.
    private func narrow(_ pixels: UnsafePointer<UInt8>) {
        source.withUnsafeMutableBufferPointer { source in
            for x in 0..<source.count {
                let pixel = pixels + x * 4
                let alpha = Float(pixel[3])
                let factor = alpha / 255
                source[x] = SIMD4(
                    Float(pixel[0]) * factor, Float(pixel[1]) * factor, Float(pixel[2]) * factor,
                    alpha)
            }
            weights.horizontal.withUnsafeBufferPointer { weights in
                horizontal.withUnsafeBufferPointer { horizontal in
                    narrowed.withUnsafeMutableBufferPointer { narrowed in
                        for x in 0..<horizontal.count {
                            let contribution = horizontal[x]
                            var sum = SIMD4<Float>.zero
                            var index = contribution.start
                            var weight = contribution.weight
                            let end = index &+ contribution.count
                            while index < end {
                                sum += source[index] * weights[weight]
                                index &+= 1
                                weight &+= 1
                            }
                            narrowed[x] = sum
                        }
                    }
                }
            }
        }
    }

    private func write(_ row: [SIMD4<Float>]) {
        let (start, step) = placement.row(firstActive)
        var place = start
        row.withUnsafeBufferPointer { row in
            for x in 0..<width {
                let pixel = row[x]
                // The filter has negative weights: a color can exceed its range, and alpha.
                let alpha = min(max(pixel.w, 0), 255)
                place[0] = UInt8(min(max(pixel.x, 0), alpha) + 0.5)
                place[1] = UInt8(min(max(pixel.y, 0), alpha) + 0.5)
                place[2] = UInt8(min(max(pixel.z, 0), alpha) + 0.5)
                place[3] = UInt8(alpha + 0.5)
                place += step
            }
        }
    }
}
