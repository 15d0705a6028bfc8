internal import ServiceSimulator

/// Writes the data of a server as JSON, as one of its users receives it.
struct AssetWriter {
    private let state: ServerState
    private let viewer: String

    init(_ state: ServerState, viewer: String) {
        self.state = state
        self.viewer = viewer
    }

    func asset(_ asset: SimulatedAsset) -> JSON {
        let date = JSON.string(asset.created.utc.replacing("Z", with: ".000Z"))
        let isFavorite = state.favourites[viewer, default: []].contains(asset.id)
        let owner = state.users[asset.owner ?? viewer]?.id ?? ""
        let first: JSON = [
            "id": .string(asset.id), "createdAt": date,
            "ownerId": .string(owner), "libraryId": .null,
            "type": .string(asset.kind), "originalPath": "/data/upload/\(asset.id)",
            "originalFileName": .string(asset.fileName),
            "originalMimeType": .string(asset.mediaType), "thumbhash": .string(asset.thumbHash),
            "fileCreatedAt": date, "fileModifiedAt": date, "localDateTime": date,
            "updatedAt": date, "isFavorite": .bool(isFavorite), "isArchived": false,
            "isTrashed": false, "isOffline": false, "hasMetadata": true,
            "visibility": asset.isOnTimeline ? "timeline" : "archive",
            "checksum": "1vVqPfXFlxTAKqlJOkXAXZKQqBc=",
        ]
        let exif: JSON = [
            "make": "FUJIFILM", "model": .string(asset.camera), "lensModel": "XF23mmF1.4 R LM WR",
            "exposureTime": "1/250", "fNumber": 5.6, "iso": 400, "focalLength": 23,
            "exifImageWidth": .integer(asset.width), "exifImageHeight": .integer(asset.height),
            "orientation": .string("\(asset.orientation)"), "dateTimeOriginal": date,
            "timeZone": "UTC",
            "latitude": asset.latitude.map { .number($0) } ?? .null,
            "longitude": asset.longitude.map { .number($0) } ?? .null,
            "description": .string(asset.description), "city": .null,
        ]
        let isRotated = 5...8 ~= asset.orientation
        let newer: JSON =
            state.version.major >= 3
            ? [
                "duration": .null, "isEdited": .bool(asset.isEdited),
                "width": .integer(isRotated ? asset.height : asset.width),
                "height": .integer(isRotated ? asset.width : asset.height),
            ] : ["duration": "0:00:00.00000", "deviceId": "WEB", "resized": true]
        return first + newer + ["exifInfo": exif]
    }

    func assets(_ ids: [String]) -> JSON {
        .array(state.readableAssets(of: viewer).filter { ids.contains($0.id) }.map(asset))
    }

    /// The stacks of the user, whose searches do not state them.
    ///
    /// Source: immich 2.7.5, `stack.service.ts`.
    var stacks: JSON {
        let own = Set(state.assets(of: viewer).map(\.id))
        return .array(
            state.stacks.filter { own.contains($0.primary) }.map { stack in
                [
                    "id": .string(stack.primary), "primaryAssetId": .string(stack.primary),
                    "assets": assets(stack.assets),
                ]
            })
    }

    /// The assets of a month, as columns.
    func bucket(_ assets: [SimulatedAsset]) -> JSON {
        func column(_ value: (SimulatedAsset) -> JSON) -> JSON { .array(assets.map(value)) }
        return [
            "id": column { .string($0.id) },
            "ownerId": column { .string(state.users[$0.owner ?? viewer]?.id ?? "") },
            "isFavorite": column { .bool(state.favourites[viewer, default: []].contains($0.id)) },
            "isTrashed": column { _ in false }, "isImage": column { .bool($0.kind == "IMAGE") },
            "thumbhash": column { .string($0.thumbHash) },
            "fileCreatedAt": column { .string($0.created.utc.replacing("Z", with: ".000")) },
            "visibility": column { _ in "timeline" }, "ratio": column { _ in 1.5 },
        ]
    }

    func album(_ album: SimulatedAlbum, withAssets: Bool) -> JSON {
        let basic: JSON = [
            "id": .string(album.id), "albumName": .string(album.name), "description": "",
            "albumThumbnailAssetId": .string(album.assets.first),
            "assetCount": .integer(album.assets.count), "shared": .bool(album.isShared),
            "createdAt": "2026-08-01T00:00:00.000Z", "updatedAt": "2026-08-01T00:00:00.000Z",
        ]
        // Lists of albums have an empty list in versions before 3.
        if state.version.major >= 3 { return basic }
        return basic + ["assets": withAssets ? assets(album.assets) : []]
    }

    var people: JSON {
        let people = state.people.map { person -> JSON in
            [
                "id": .string(person.id), "name": .string(person.name), "birthDate": .null,
                "thumbnailPath": "", "isHidden": false,
            ]
        }
        return [
            "people": .array(people), "total": .integer(people.count), "hidden": 0,
            "hasNextPage": false,
        ]
    }

    func memory(_ day: String, _ assets: [String]) -> JSON {
        [
            "id": "10b2e2c5-7a2f-4a5b-a0ad-6c5ac1a9c7ff", "type": "on_this_day",
            "memoryAt": .string("\(day)T00:00:00.000Z"),
            "data": ["year": .integer(Int(day.prefix(4)) ?? 0)], "isSaved": false,
            "assets": self.assets(assets),
        ]
    }

    func user(_ user: SimulatedUser) -> JSON {
        [
            "id": .string(user.id), "email": .string(user.email),
            "name": .string(user.name.prefix(1).uppercased() + user.name.dropFirst()),
            "profileImagePath": .string(user.hasAvatar ? "/data/profile/\(user.id).jpg" : ""),
            "profileChangedAt": "2026-08-01T10:00:00.000Z", "avatarColor": "primary",
            "isAdmin": false, "status": "active",
        ]
    }
}
