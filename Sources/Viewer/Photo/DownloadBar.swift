internal import Toolkit
internal import Translation

/// The progress of the downloads.
final class DownloadBar {
    let widget: Revealer
    private let downloads: Downloads
    private let label = Label().ellipsizing()
    private let bar = ProgressBar()

    init(_ downloads: Downloads) {
        self.downloads = downloads
        let cancel = Button(tr("_Cancel"))
        let texts = Box(.vertical, spacing: 4, label, bar)
        texts.expanding(vertically: false).aligned(.fill, .center)
        let box = Box(.horizontal, spacing: 12, texts, cancel)
        box.styled("osd", "download-bar")
        bar.setAccessibleName(tr("Progress of the download"))
        widget = Revealer(box)
        widget.aligned(.fill, .end)
        cancel.onClick { [weak downloads] in downloads?.cancelAll() }
        downloads.changed.observe(self) { [weak self] in self?.update() }
    }

    private func update() {
        widget.isRevealed = downloads.isRunning
        guard let progress = downloads.current else { return }
        label.text = tr("Downloading {file}", ["file": progress.name])
        if progress.total > 0 {
            bar.set(min(1, Double(progress.received) / Double(progress.total)))
        } else {
            bar.pulse()
        }
    }
}
