internal import Contract
internal import DBus
internal import Dispatch
internal import ProviderKit
internal import System

/// The files and folders that the user opens from the file manager or the command line.
///
/// Those in the pictures folder are shown in the feed of a local account, others as a list that is not stored.
extension Service {
    /// Returns a list of the opened files, or of the folder of the only one, with its title and the position of the photo
    /// that was opened, which is nil for a folder; nil if there is no image.
    func files(_ paths: [String]) async -> (feed: Feed, title: String, index: Int?)? {
        let (photos, folder, index) = await DispatchQueue.global().run {
            () -> ([Photo], String, Int?) in
            let places = paths.compactMap(FileList.Place.init)
            guard let first = places.first else { return ([], "", nil) }
            let folder = first.folder
            if places.count > 1 {
                return (places.compactMap { FileList.photo($0.path) }, folder, 0)
            }
            var photos = FileList.photos(ofFolder: folder)
            if first.isFolder { return (photos, folder, nil) }
            // The file may have an unusual name.
            if !photos.contains(where: { $0.id == first.path }),
                let file = FileList.photo(first.path)
            {
                photos.insert(file, at: 0)
            }
            return (photos, folder, photos.firstIndex { $0.id == first.path })
        }
        guard !photos.isEmpty else { return nil }
        let title = folder.split(separator: "/").last.map(String.init) ?? "/"
        return (Feed(self, account: ServiceName.root, photos: photos), title, index)
    }

    /// Returns the selection and the photo of a local account for a file or folder; nil if no account has it.
    func source(ofFile path: String) async -> (Sidebar.Selection, photo: String?)? {
        guard let account = feeds.first(where: isLocal) else { return nil }
        let (place, source) = await DispatchQueue.global().run {
            () -> (FileList.Place?, String?) in
            let place = FileList.Place(path)
            return (place, place.flatMap { FileList.source(ofFolder: $0.folder) })
        }
        guard let place, let source else { return nil }
        let selection = Sidebar.Selection(account: account.path, source: source)
        let client = client.account(account.path)
        var cursor = ""
        repeat {
            guard let page = try? await client.page(source, cursor: cursor, count: 100) else {
                return nil
            }
            if place.isFolder { return (selection, nil) }
            let title = Photo(file: place.path, modified: 0).title
            for photo in page.photos where photo.title == title {
                if (try? await client.imagePath(photo.id, size: "full")) == place.path {
                    return (selection, photo.id)
                }
            }
            cursor = page.next
        } while !cursor.isEmpty
        return nil
    }
}
