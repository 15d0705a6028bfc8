internal import Contract
internal import System
internal import Toolkit
internal import Translation

/// The photos of a feed in justified rows, below headings with the months if the feed is ordered by date. Only the visible
/// part has widgets.
final class FeedGrid {
    private(set) lazy var widget = ScrollArea(Box(.vertical, top, area), mayOverflow: true)
        .expanding()
    /// The content above the photos, which scrolls with them.
    private let top: Widget
    /// Shows the months and the number of selected photos, and opens photos.
    weak var feedPage: FeedPage?

    private let area = FixedArea()
    private let menu = Menu()
    private let loader: ImageLoader
    private let actions: PhotoActions
    private var feed: Feed?
    private var layout = JustifiedLayout(width: 1, targetHeight: 1, spacing: 0)
    private var monthList = MonthList()
    /// The cells in use, by the index of their photo.
    private var cells: [Int: PhotoCell] = [:]
    private var unused: [PhotoCell] = []
    /// The labels of the visible months, by the index of the photo below.
    private var headings: [Int: Label] = [:]
    /// The ratios of photos whose size only their images tell, by the ID.
    private var measured: [String: Double] = [:]
    /// The first photo whose ratio has changed.
    private var firstResized: Int?
    /// True if the months are those of former dates.
    private var hasOldMonths = false
    private var lastPosition = 0.0
    /// The height of the rows, relative to the usual one.
    var scale = 1.0 { didSet { if scale != oldValue { scheduleUpdate() } } }
    private var isUpdateScheduled = false
    /// The photo that the key Tab reaches, and that the arrow keys leave.
    private(set) var current = 0 { didSet { moved = nil } }
    /// The ID of the current photo after its index has changed, until its cell is there again.
    private var moved: String?
    /// The IDs of the selected photos.
    private var selected: Set<String> = []
    /// The ID of the photo at which a range of selected photos begins; empty for the current photo.
    private var anchor = ""
    /// True if the focus returns to the current photo after the photos were replaced.
    private var restoresFocus = false

    private static let spacing = 6.0
    private var backoff = Backoff(first: .seconds(5), factor: 2, longest: .seconds(300))
    private lazy var retryTimer = MainLoopTimer { [weak self] in self?.retry() }

    init(_ loader: ImageLoader, _ actions: PhotoActions, top: Widget) {
        self.loader = loader
        self.actions = actions
        self.top = top
        area.setAccessibleName(tr("Photos"))
        widget.onScroll { [weak self] in self?.scheduleUpdate() }
        widget.onMap { [weak self] in self?.scheduleUpdate() }
        area.onKey(beforeChildren: true) { [weak self] in self?.handle($0) ?? false }
    }

    /// Shows a feed from the top.
    func show(_ feed: Feed) {
        self.feed?.cancelEnd()
        self.feed = feed
        measured = [:]
        beginAtTop()
        clearSelection()
        feed.changed.observe(self) { [weak self, weak feed] change in
            guard let self, self.feed === feed else { return }
            switch change {
            case .reset, .removed:
                selected = selected.filter { self.feed?.index(of: $0) != nil }
                // The focus remains on its photo.
                if let photo = cells[current]?.photo?.id ?? moved,
                    let index = self.feed?.index(of: photo)
                {
                    current = index
                    moved = photo
                }
                if case .reset = change { beginAtTop() } else { reset() }
                feedPage?.updateSelection()
            case .extended: scheduleUpdate()
            case .photo(let index):
                guard let photo = self.feed?.photos[index] else { return }
                cells[index]?.update(photo)
                resize(index, photo)
                guard index < monthList.count, !monthList.isValid(photo, at: index) else { return }
                // The date of a local photo is known after its file was read.
                hasOldMonths = true
                scheduleUpdate()
            case .available: retryFailed()
            }
        }
    }

    /// Stores the ratio of an image whose photo has no size.
    func measure(_ index: Int, _ photo: Photo, ratio: Double) {
        guard photo.size == nil else { return }
        measured[photo.id] = Photo.limited(ratio)
        resize(index, photo)
    }

    /// Lays out the row of a photo again if its ratio is another one.
    private func resize(_ index: Int, _ photo: Photo) {
        guard index < layout.count, (layout.ratio(of: index) - ratio(photo)).magnitude > 0.01 else {
            return
        }
        firstResized = min(firstResized ?? index, index)
        scheduleUpdate()
    }

    private func ratio(_ photo: Photo) -> Double { measured[photo.id] ?? photo.ratio }

    /// Moves the focus to the current photo as soon as that is shown.
    func takeFocus() {
        restoresFocus = true
        scheduleUpdate()
    }

    /// Moves the focus to a photo and scrolls to it.
    func focus(_ index: Int) {
        current = index
        // New photos may not have a place yet.
        if layout.row(of: index) == nil { update() }
        scroll(to: index)
        update()
        cells[index]?.button.grabFocus()
    }

    // MARK: Selection

    /// The selected photos in their order.
    var selectedPhotos: [Photo] {
        selected.isEmpty ? [] : feed?.photos.filter { selected.contains($0.id) } ?? []
    }

    func clearSelection() {
        (selected, anchor) = ([], "")
        updateSelection()
    }

    /// Selects a photo or ends its selection; for a range, selects all photos from the last one.
    private func select(_ index: Int, of feed: Feed, isRange: Bool) {
        if isRange {
            let start = feed.index(of: anchor) ?? min(current, feed.photos.count - 1)
            selected.formUnion(feed.photos[min(start, index)...max(start, index)].map(\.id))
        } else if selected.remove(feed.photos[index].id) == nil {
            selected.insert(feed.photos[index].id)
        }
        anchor = feed.photos[index].id
        focus(index)
        updateSelection()
    }

    private func updateSelection() {
        for (index, cell) in cells {
            if let feed { cell.setSelected(selected.contains(feed.photos[index].id)) }
        }
        feedPage?.updateSelection()
    }

    /// The distance of the visible part from the first row; negative above it.
    private var position: Double {
        get { widget.position - topHeight }
        set { widget.position = newValue + topHeight }
    }
    private var topHeight: Double { top.isVisible ? Double(top.height) : 0 }

    private func beginAtTop() {
        reset()
        current = 0
        lastPosition = 0
        widget.position = 0
    }

    /// Requests the images that failed again.
    func retryFailed() {
        backoff.recordSuccess()
        retry()
    }

    private func retry() {
        retryTimer.cancel()
        for cell in cells.values { cell.forgetFailure() }
        scheduleUpdate()
    }

    /// Requests the images that failed after a time that doubles with each failure.
    func scheduleRetry() {
        guard !retryTimer.isRunning else { return }
        backoff.recordFailure()
        retryTimer.start(after: backoff.pause)
    }

    private func reset() {
        restoresFocus = restoresFocus || cells.values.contains { $0.button.hasFocusWithin }
        for cell in cells.values { recycle(cell) }
        cells = [:]
        layout = JustifiedLayout(width: 1, targetHeight: 1, spacing: 0)
        firstResized = nil
        monthList = MonthList()
        feedPage?.monthsChanged()
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
        let top = position
        let page = widget.visibleHeight
        // A part of a page more on both sides, so that images are there before they are visible.
        let rows = layout.rows(from: top - page / 2, to: top + page * 1.5)
        let wanted = rows.flatMap { zip($0.photos, layout.frames(of: $0)) }
        let indexes = Set(wanted.map(\.0))
        // A cell with the focus stays, so that the keyboard continues from there.
        for (index, cell) in cells where !indexes.contains(index) && !cell.button.hasFocusWithin {
            cells[index] = nil
            recycle(cell)
        }
        removeHeadings(except: indexes)
        let scale = Double(widget.scaleFactor)
        // A cell with the focus may be above the others.
        let above = cells.first { !indexes.contains($0.key) && $0.key < wanted.first?.0 ?? 0 }
        var previous: Widget? = above?.value.widget
        for (index, frame) in wanted {
            if layout.isSection(index), let month = monthList.month(of: index) {
                previous = placeHeading(month, above: frame, after: previous)
            }
            previous = place(index, of: feed, frame, scale, after: previous).widget
        }
        current = min(current, max(0, feed.photos.count - 1))
        let visible = rows.first { $0.top >= top } ?? rows.first
        let tabStop = cells[current] == nil ? visible?.photos.lowerBound : current
        for (index, cell) in cells { cell.button.setFocusable(index == tabStop) }
        if restoresFocus, !feed.photos.isEmpty {
            restoresFocus = false
            let position = widget.position
            if feedPage?.owner?.needsFocus == false { focus(current) }
            // GTK scrolls to the photo, whose place it may not know yet.
            if current == 0 { widget.position = position }
        }
        if top + page * 2.5 > layout.height, feed.state == .partial { feed.loadMore() }
        guard widget.position != lastPosition, let visible,
            let month = monthList.month(of: visible.photos.lowerBound)
        else { return }
        lastPosition = widget.position
        feedPage?.show(month)
    }

    private func updateLayout(_ feed: Feed, _ width: Double) {
        let usual = width < 500 ? min(150, width / 2.2) : min(max(width / 5, 190), 320)
        let target = min(usual * scale, width)
        let isOther = layout.width != width || layout.targetHeight != target || hasOldMonths
        guard isOther || firstResized != nil else {
            if layout.count < feed.photos.count { extendLayout(feed) }
            return
        }
        // The photo at the top remains there.
        let position = position
        let first = layout.rows(from: position, to: position).first
        if isOther {
            if hasOldMonths { monthList = MonthList() }
            hasOldMonths = false
            beginLayout(width, target)
        } else if let firstResized {
            removeHeadings(except: [])
            layout.removeRows(from: firstResized)
        }
        firstResized = nil
        extendLayout(feed)
        if let first, first.photos.lowerBound > 0, let row = layout.row(of: first.photos.lowerBound)
        {
            self.position = isOther ? row.top : position + row.top - first.top
        }
    }

    private func beginLayout(_ width: Double, _ targetHeight: Double) {
        removeHeadings(except: [])
        layout = JustifiedLayout(
            width: width, targetHeight: targetHeight, spacing: Self.spacing,
            headingHeight: makeHeading("M").naturalHeight)
    }

    private func extendLayout(_ feed: Feed) {
        let known = monthList.count
        if known < feed.photos.count {
            if !monthList.append(feed.photos[known...]), layout.count > 0 {
                beginLayout(layout.width, layout.targetHeight)
            }
            feedPage?.monthsChanged()
        }
        let count = layout.count
        layout.append(
            feed.photos[count...].map(ratio),
            sections: monthList.months.lazy.map(\.first).filter { $0 >= count })
        let height = layout.height.rounded(.up)
        area.setMinimumSize(width: -1, height: Int(height))
        widget.setContentHeight(max(height + topHeight, widget.visibleHeight))
    }

    private func makeHeading(_ title: String) -> Label {
        Label(title, isHeading: true).ellipsizing().styled("month", "heading")
    }

    private func placeHeading(
        _ month: MonthList.Month, above frame: JustifiedLayout.Frame, after previous: Widget?
    ) -> Label {
        if let label = headings[month.first] { return label }
        let label = makeHeading(month.title)
        label.setMinimumSize(width: Int(layout.width - 2 * layout.spacing))
        headings[month.first] = label
        area.add(label, x: layout.spacing, y: frame.y - layout.headingHeight, after: previous)
        return label
    }

    private func removeHeadings(except photos: Set<Int>) {
        for (photo, label) in headings where !photos.contains(photo) {
            headings[photo] = nil
            area.remove(label)
        }
    }

    private func place(
        _ index: Int, of feed: Feed, _ frame: JustifiedLayout.Frame, _ scale: Double,
        after previous: Widget?
    ) -> PhotoCell {
        let x = area.isRightToLeft ? layout.width - frame.x - frame.width : frame.x
        let cell: PhotoCell
        if let existing = cells[index] {
            cell = existing
            area.move(cell.widget, x: x, y: frame.y)
        } else {
            cell = unused.popLast() ?? PhotoCell(loader, self)
            cells[index] = cell
            area.add(cell.widget, x: x, y: frame.y, after: previous)
        }
        cell.widget.setMinimumSize(width: Int(frame.width), height: Int(frame.height))
        let photo = feed.photos[index]
        cell.show(
            photo, index: index, account: feed.account, width: Int(frame.width * scale),
            height: Int(frame.height * scale))
        cell.setPosition(index + 1, of: feed.count)
        cell.setSelected(selected.contains(photo.id))
        return cell
    }

    /// The months, the newest first; empty if the feed is not ordered by date.
    var months: [MonthList.Month] { monthList.months }

    /// Moves the focus to the first photo of a month, with its heading at the top.
    func show(_ month: MonthList.Month) {
        update()
        if let row = layout.row(of: month.first) { position = row.top - layout.headingHeight }
        focus(month.first)
    }

    /// Opens the menu of a photo at a point of its cell; nil for its middle.
    func openMenu(_ index: Int, _ cell: Widget, _ point: (x: Double, y: Double)?) {
        guard let feed, let feedPage, feed.photos.indices.contains(index) else { return }
        // Translators: the verb, an entry of a menu
        let open = MenuEntry(tr("Open"), key: "Return") { [weak self] in
            self?.perform(.open, on: index)
        }
        actions.fill(menu, feed.photos[index], in: feed, [open])
        menu.open(in: feedPage.widget, at: cell, point)
    }

    /// True once a photo is selected.
    var hasSelection: Bool { !selected.isEmpty }

    /// Performs a command on a photo.
    func perform(_ command: Command, on index: Int) {
        guard let feed, feed.photos.indices.contains(index) else { return }
        let photo = feed.photos[index]
        switch command {
        case .open:
            current = index
            feedPage?.owner?.open(index)
        case .select, .selectRange: select(index, of: feed, isRange: command == .selectRange)
        case .like: actions.likes.toggle(photo.id, in: feed)
        case .trash: if actions.isLocal(photo) { actions.trash([photo], in: feed) }
        case .menu:
            scroll(to: index)
            if let cell = cells[index] { openMenu(index, cell.widget, nil) }
        default: break
        }
    }

    private func recycle(_ cell: PhotoCell) {
        area.remove(cell.widget)
        cell.clear()
        if unused.count < 40 { unused.append(cell) }
    }

    // MARK: Keyboard

    private func handle(_ key: String) -> Bool {
        guard let feed, let command = Shortcuts.grid.command(key),
            let index = cells.first(where: { $0.value.button.hasFocusWithin })?.key
        else { return false }
        feed.cancelEnd()
        let forward = area.isRightToLeft ? -1 : 1
        var target: Int?
        switch command {
        case .left: target = index - forward
        case .right: target = index + forward
        case .up: target = layout.neighbor(of: index, rowOffset: -1)
        case .down: target = layout.neighbor(of: index, rowOffset: 1)
        case .first: target = 0
        case .last: feed.findEnd { [weak self] in self?.focus($0) }
        case .pageUp, .pageDown:
            let rows = max(1, Int(widget.visibleHeight / max(1, layout.targetHeight)))
            let sign = command == .pageUp ? -1 : 1
            target =
                (1...rows).reversed().lazy
                .compactMap { [layout] in layout.neighbor(of: index, rowOffset: sign * $0) }.first
        case .selectAll:
            selected = Set(feed.photos.map(\.id))
            updateSelection()
        case .escape:
            guard !selected.isEmpty else { return false }
            clearSelection()
        default: perform(command, on: index)
        }
        if let target, feed.photos.indices.contains(target) { focus(target) }
        return true
    }

    private func scroll(to index: Int) {
        guard let row = layout.row(of: index) else { return }
        let page = widget.visibleHeight
        let heading = layout.isSection(row.photos.lowerBound) ? layout.headingHeight : 0
        if row.top - heading < position {
            position = row.top - heading - Self.spacing
        } else if row.top + row.height > position + page {
            position = row.top + row.height + Self.spacing - page
        }
    }
}
