package import Translation

extension Source {
    /// The source with its title in the language of the user, for clients.
    ///
    /// Stored titles are in English. Those of albums and topics come from users and services and stay as they are.
    package var translated: Source {
        Source(id: id, title: ownTitle?.translated ?? title, kind: kind, count: count, cover: cover)
    }

    /// The title if it is one of this program; nil if it comes from a user or a service.
    package var ownTitle: Message? {
        switch (kind, title) {
        case (.feed, "All accounts"): Message("All accounts")
        case (.feed, "All photos"): Message("All photos")
        // Translators: the photos that the editors of a service chose
        case (.feed, "Editorial"): Message("Editorial")
        // Translators: the photos of the people that the user follows
        case (.feed, "Home"): Message("Home")
        case (.feed, "Memories"): Message("Memories")
        case (.feed, "On all servers"): Message("On all servers")
        case (.feed, _) where id.text == "local" && title.hasPrefix("On "):
            // Translators: the photos of all users of a server
            Message("On {server}", ["server": String(title.dropFirst(3))])
        case (.feed, "Pictures of the day"): Message("Pictures of the day")
        case (.likes, "Favourites"): Message("Favourites")
        case (.likes, "Liked photos"): Message("Liked photos")
        case (.likes, "Liked pictures"): Message("Liked pictures")
        case (.album, "Untitled album"): Message("Untitled album")
        default: nil
        }
    }
}
