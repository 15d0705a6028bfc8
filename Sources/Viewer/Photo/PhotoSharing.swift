internal import Toolkit

/// The actions with the link of a photo, which contains the attribution.
struct PhotoSharing {
    private let window: Window
    private let toasts: ToastArea

    init(_ window: Window, _ toasts: ToastArea) {
        self.window = window
        self.toasts = toasts
    }

    func copyLink(_ photo: Photo?) {
        guard let link = link(photo) else { return }
        window.copy(link)
        toasts.show("The link was copied.")
    }

    func openLink(_ photo: Photo?) {
        guard let link = link(photo) else { return }
        open(link, "No browser could be started. Copy the link instead.")
    }

    func mailLink(_ photo: Photo?) {
        guard let photo, let link = link(photo) else { return }
        let subject = photo.accessibleName.percentEncoded
        open(
            "mailto:?subject=\(subject)&body=\(link.percentEncoded)",
            "No mail program could be started. Copy the link instead.")
    }

    private func open(_ uri: String, _ problem: String) {
        Application.open(uri, parent: window) { [toasts] reason in
            if reason != nil { toasts.show(problem) }
        }
    }

    private func link(_ photo: Photo?) -> String? {
        guard let photo else { return nil }
        if photo.url.isEmpty {
            toasts.show("This photo has no link, because it is only on this computer.")
        }
        return photo.url.isEmpty ? nil : photo.url
    }
}
