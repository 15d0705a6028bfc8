internal import Toolkit

/// The labels of the visible months in the grid.
final class MonthHeadings {
    private let area: FixedArea
    /// The labels by the index of the photo below.
    private var labels: [Int: Label] = [:]

    init(_ area: FixedArea) { self.area = area }

    /// The height of a label.
    var height: Double { makeLabel("M").naturalHeight }

    /// Places the label of a month above its first photo.
    ///
    /// - Parameters:
    ///   - month: The month.
    ///   - frame: The place of the photo.
    ///   - layout: The layout of the grid.
    ///   - previous: The widget before the label for screen readers.
    /// - Returns: The label.
    func place(
        _ month: MonthList.Month, above frame: JustifiedLayout.Frame, _ layout: JustifiedLayout,
        after previous: Widget?
    ) -> Label {
        if let label = labels[month.first] { return label }
        let label = makeLabel(month.title)
        label.setMinimumSize(width: Int(layout.width - 2 * layout.spacing))
        labels[month.first] = label
        area.add(label, x: layout.spacing, y: frame.y - layout.headingHeight, after: previous)
        return label
    }

    /// Removes the labels of other photos.
    func keep(_ photos: Set<Int>) {
        for (photo, label) in labels where !photos.contains(photo) {
            labels[photo] = nil
            area.remove(label)
        }
    }

    private func makeLabel(_ title: String) -> Label {
        let label = Label(title, isHeading: true).ellipsizing()
        label.styled("month", "heading")
        return label
    }
}
