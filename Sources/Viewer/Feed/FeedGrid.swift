internal import System
internal import Toolkit

/// The photos of a feed in justified rows. Only the visible part has widgets.
final class FeedGrid {
    let widget: ScrollArea
    var onOpen: ((Int) -> Void)?
    var onLike: ((Int) -> Void)?

    private let area = FixedArea()
    private let loader: ImageLoader
    private var feed: Feed?
    private var layout = JustifiedLayout(width: 1, targetHeight: 1, spacing: 0)
    /// The number of photos in the layout.
    private var laidOut = 0
    /// The cells in use, by the index of their photo.
    private var cells: [Int: PhotoCell] = [:]
    private var unused: [PhotoCell] = []
    private var isUpdateScheduled = false
    private let trace: GridTrace?

    private static let spacing = 6.0

    init(_ loader: ImageLoader) {
        self.loader = loader
        widget = ScrollArea(area, mayOverflow: true)
        widget.expanding()
        trace = GridTrace(widget)
        area.setAccessibleName("Photos")
        widget.onScroll { [weak self] in self?.scheduleUpdate() }
        widget.onMap { [weak self] in self?.scheduleUpdate() }
        area.onKey(beforeChildren: true) { [weak self] in self?.handle($0) ?? false }
    }

    /// Shows a feed from the top.
    func show(_ feed: Feed) {
        self.feed = feed
        reset()
        widget.position = 0
        feed.changed.observe(self) { [weak self, weak feed] change in
            guard let self, self.feed === feed else { return }
            switch change {
            case .reset:
                reset()
                widget.position = 0
            case .removed: reset()
            case .extended: scheduleUpdate()
            case .photo(let index):
                if let photo = self.feed?.photos[index] { cells[index]?.update(photo) }
            case .arrived: break
            }
        }
    }

    /// Moves the focus to a photo and scrolls to it.
    func focus(_ index: Int) {
        scroll(to: index)
        update()
        cells[index]?.grabFocus()
    }

    /// Requests the images that failed again.
    func retryFailed() {
        for cell in cells.values { cell.forgetFailure() }
        scheduleUpdate()
    }

    private func reset() {
        for cell in cells.values { recycle(cell) }
        cells = [:]
        layout = JustifiedLayout(width: 1, targetHeight: 1, spacing: 0)
        laidOut = 0
        scheduleUpdate()
    }

    // GTK must not be changed while it lays out its widgets, which is when the size changes.
    private func scheduleUpdate() {
        guard !isUpdateScheduled else { return }
        isUpdateScheduled = true
        Task { [weak self] in
            self?.isUpdateScheduled = false
            self?.update()
        }
    }

    private func update() {
        guard let feed, widget.isMapped else { return }
        let width = widget.visibleWidth
        guard width > 10 else { return }
        updateLayout(feed, width)
        let top = widget.position
        let page = widget.visibleHeight
        // A part of a page more on both sides, so that images are there before they are visible.
        let rows = layout.rows(from: top - page / 2, to: top + page * 1.5)
        var wanted: [(Int, JustifiedLayout.Frame)] = []
        for row in rows {
            let photos = layout.rows[row].photos
            wanted += zip(photos, layout.frames(of: layout.rows[row]))
        }
        let indexes = Set(wanted.map(\.0))
        // A cell with the focus stays, so that the keyboard continues from there.
        for (index, cell) in cells where !indexes.contains(index) && !cell.hasFocus {
            cells[index] = nil
            recycle(cell)
        }
        let scale = Double(widget.scaleFactor)
        for (index, frame) in wanted { place(feed.photos[index], index, frame, scale) }
        if top + page * 2.5 > layout.height, feed.state == .partial { feed.loadMore() }
    }

    private func updateLayout(_ feed: Feed, _ width: Double) {
        if layout.width != width {
            // The photo at the top remains there.
            let first = layout.rows(from: widget.position, to: widget.position).first
            let anchor = first.map { layout.rows[$0].photos.lowerBound }
            let target = width < 500 ? min(150, width / 2.2) : min(max(width / 5, 190), 320)
            layout = JustifiedLayout(width: width, targetHeight: target, spacing: Self.spacing)
            laidOut = 0
            extendLayout(feed)
            if let anchor, anchor > 0, let row = layout.row(of: anchor) {
                widget.position = layout.rows[row].top
            }
        } else if laidOut < feed.photos.count {
            extendLayout(feed)
        }
    }

    private func extendLayout(_ feed: Feed) {
        layout.append(feed.photos[laidOut...].map(\.ratio), isEnd: feed.state == .complete)
        laidOut = feed.photos.count
        area.setMinimumSize(width: -1, height: Int(layout.height.rounded(.up)))
    }

    private func place(
        _ photo: Photo, _ index: Int, _ frame: JustifiedLayout.Frame, _ scale: Double
    ) {
        let cell: PhotoCell
        if let existing = cells[index] {
            cell = existing
            area.move(cell.widget, x: frame.x, y: frame.y)
        } else {
            cell = unused.popLast() ?? makeCell()
            cells[index] = cell
            area.add(cell.widget, x: frame.x, y: frame.y)
        }
        cell.widget.setMinimumSize(width: Int(frame.width), height: Int(frame.height))
        guard let feed else { return }
        cell.show(
            photo, index: index, account: feed.account, width: Int(frame.width * scale),
            height: Int(frame.height * scale))
    }

    private func makeCell() -> PhotoCell {
        let cell = PhotoCell(loader)
        cell.onOpen = { [weak self] in self?.onOpen?($0) }
        cell.onLike = { [weak self] in self?.onLike?($0) }
        guard trace != nil else { return cell }
        cell.onImage = { [weak self] in
            guard let self, cells.values.allSatisfy(\.hasImage) else { return }
            trace?.showedAll()
        }
        return cell
    }

    private func recycle(_ cell: PhotoCell) {
        area.remove(cell.widget)
        cell.clear()
        if unused.count < 40 { unused.append(cell) }
    }

    // MARK: Keyboard

    private func handle(_ key: KeyPress) -> Bool {
        guard let feed, !key.isControl, !key.isAlt,
            let (index, cell) = cells.first(where: { $0.value.hasFocus })
        else { return false }
        let target: Int?
        switch key.name {
        case "Left": target = index - 1
        case "Right": target = index + 1
        case "Up": target = layout.neighbor(of: index, rowOffset: -1)
        case "Down": target = layout.neighbor(of: index, rowOffset: 1)
        case "Home": target = 0
        case "End": target = feed.photos.count - 1
        case "Page_Up", "Page_Down":
            let rows = max(1, Int(widget.visibleHeight / max(1, layout.targetHeight)))
            let sign = key.name == "Page_Up" ? -1 : 1
            target =
                (1...rows).reversed().lazy
                .compactMap { [layout] in layout.neighbor(of: index, rowOffset: sign * $0) }.first
        case "l":
            onLike?(index)
            return true
        case "Return", "KP_Enter", "space":
            guard cell.hasOpenFocus else { return false }
            onOpen?(index)
            return true
        default: return false
        }
        if let target, feed.photos.indices.contains(target) { focus(target) }
        return true
    }

    private func scroll(to index: Int) {
        guard let row = layout.row(of: index).map({ layout.rows[$0] }) else { return }
        let page = widget.visibleHeight
        if row.top < widget.position {
            widget.position = row.top - Self.spacing
        } else if row.top + row.height > widget.position + page {
            widget.position = row.top + row.height + Self.spacing - page
        }
    }
}
