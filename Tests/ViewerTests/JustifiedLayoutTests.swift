import Testing

@testable import Viewer

@Suite struct JustifiedLayoutTests {
    @Test func `complete rows fill the width and keep proportions`() {
        var layout = JustifiedLayout(width: 1000, targetHeight: 200, spacing: 6)
        let ratios = (0..<200).map { [1.5, 0.75, 1.0, 3.0][$0 % 4] }
        layout.append(ratios)
        for row in layout.rows.dropLast() {
            let frames = layout.frames(of: row)
            let last = frames[frames.count - 1]
            #expect(abs(last.x + last.width + 6 - 1000) < 0.001)
            for (index, frame) in zip(row.photos, frames) {
                #expect(abs(frame.width / frame.height - ratios[index]) < 0.001)
            }
        }
        #expect(layout.rows.flatMap(\.photos) == Array(0..<200))
    }

    @Test func `photos appended page by page are laid out as if they came at once`() {
        let ratios = (0..<300).map { number -> Double in 0.5 + Double(number * 37 % 20) / 10 }
        var whole = JustifiedLayout(width: 800, targetHeight: 180, spacing: 4)
        whole.append(ratios)
        var pages = JustifiedLayout(width: 800, targetHeight: 180, spacing: 4)
        for start in stride(from: 0, to: 300, by: 7) {
            pages.append(Array(ratios[start..<min(start + 7, 300)]))
        }
        #expect(pages.rows == whole.rows)
    }

    @Test func `the visible rows overlap the visible part`() {
        var layout = JustifiedLayout(width: 800, targetHeight: 180, spacing: 4)
        layout.append([Double](repeating: 1.5, count: 1000))
        let range = layout.rows(from: 3000, to: 3600).indices
        for (index, row) in layout.rows.enumerated() {
            #expect(range.contains(index) == (row.top + row.height >= 3000 && row.top <= 3600))
        }
    }

    @Test func `the photo below is under the center of the photo above`() {
        var layout = JustifiedLayout(width: 620, targetHeight: 200, spacing: 0)
        layout.append([Double](repeating: 1.5, count: 40))
        let columns = layout.rows[0].photos.count
        #expect(layout.neighbor(of: 1, rowOffset: 1) == columns + 1)
        #expect(layout.neighbor(of: columns + 1, rowOffset: -1) == 1)
        #expect(layout.neighbor(of: 0, rowOffset: -1) == nil)
    }

    @Test func `a section begins a row below a heading`() {
        let ratios = (0..<100).map { number -> Double in 0.5 + Double(number * 37 % 20) / 10 }
        let sections = [0, 1, 30, 31, 99]
        var layout = JustifiedLayout(
            width: 800, targetHeight: 180, spacing: 4, headingHeight: 40)
        for start in stride(from: 0, to: 100, by: 7) {
            let page = start..<min(start + 7, 100)
            layout.append(Array(ratios[page]), sections: sections.filter(page.contains))
        }
        #expect(layout.rows.flatMap(\.photos) == Array(0..<100))
        for section in sections {
            #expect(layout.rows.contains { $0.photos.lowerBound == section })
        }
        var bottom = 4.0
        for row in layout.rows {
            #expect(
                abs(row.top - bottom - (sections.contains(row.photos.lowerBound) ? 40 : 0)) < 0.001)
            bottom = row.top + row.height + 4
            #expect(row.height <= 180.001 || row.photos.count == 1 || row.height < 360)
            let frames = layout.frames(of: row)
            #expect(frames[frames.count - 1].x + frames[frames.count - 1].width <= 796.001)
        }
    }

    @Test func `rows that are removed are laid out again with other ratios`() {
        let ratios = (0..<40).map { $0 % 3 == 0 ? 1.5 : 0.7 }
        var layout = JustifiedLayout(width: 900, targetHeight: 200, spacing: 6)
        var wrong = ratios
        wrong[25] = 3
        layout.append(wrong, sections: [0, 20])
        layout.removeRows(from: 25)
        #expect(layout.count <= 25)
        layout.append(ratios[layout.count...].map(\.self))
        var expected = JustifiedLayout(width: 900, targetHeight: 200, spacing: 6)
        expected.append(ratios, sections: [0, 20])
        #expect(layout.rows == expected.rows)
    }
}
