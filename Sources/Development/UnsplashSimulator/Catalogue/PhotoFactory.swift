internal import ServiceSimulator

/// A factory of users and photos with all special cases of real ones. The results are deterministic.
struct PhotoFactory: Sendable {
    private var random: SeededRandom
    private var photoCount = 0
    private var userCount = 0

    init(seed: UInt64) { random = SeededRandom(seed: seed) }

    /// Creates a catalogue whose newest photo has the date `now`.
    mutating func makeCatalogue(photoCount: Int, now: Moment) -> Catalogue {
        var catalogue = Catalogue()
        for (username, first, last) in Self.photographers {
            var user = makeUser(username, now: now)
            user.firstName = first
            user.lastName = last
            catalogue.users[username] = user
        }
        catalogue.topics = Self.topics.map { slug, title in
            SimulatedTopic(
                id: random.identifier(11), slug: slug, title: title,
                description: "Photos of \(title.lowercased()), selected by editors.")
        }
        for index in 0..<photoCount {
            let age = (photoCount - index) * 3600
            catalogue.publish(makePhoto(created: now + -age))
        }
        catalogue.collections = [
            SimulatedCollection(
                id: "3773378", title: "Neon Signage ", owner: "lin",
                photos: catalogue.feed.enumerated().filter { $0.offset % 9 == 0 }.map(\.element))
        ]
        return catalogue
    }

    mutating func makeUser(_ username: String, now: Moment) -> SimulatedUser {
        userCount += 1
        var user = SimulatedUser(
            id: identifier(userCount), numericID: 2_507_000 + userCount, username: username,
            firstName: username.prefix(1).uppercased() + username.dropFirst(), updated: now)
        if userCount % 2 == 0 {
            user.biography = "Hello world, I take photos\r\n& live in “Montréal” 📷"
            user.location = "Montréal, Québec"
        }
        if userCount % 3 == 0 {
            user.portfolioURL = "http://\(username).example/"
            user.instagramUsername = "\(username) "
            user.twitterUsername = username
        }
        user.hasAvatar = userCount % 4 != 0
        return user
    }

    /// Creates the next photo. Its special cases depend on the number of photos before it.
    mutating func makePhoto(created: Moment) -> SimulatedPhoto {
        photoCount += 1
        let count = photoCount
        let subject = pick(Self.subjects)
        let place = pick(Self.places)
        let isPortrait = count % 3 == 0
        let number = 1_500_000_000_000 + created.secondsSince1970 % 200_000_000 * 1000
        let name = "photo-\(number)-\(random.hexadecimal(12))"
        let text = "\(subject.article) \(subject.noun) \(place)"
        var photo = SimulatedPhoto(
            id: identifier(count),
            owner: Self.photographers[count % Self.photographers.count].username,
            created: created, updated: created + 1800,
            promoted: count % 4 == 0 ? nil : created + 900,
            width: isPortrait ? 4016 : 5472, height: isPortrait ? 5417 : 3648,
            color: count % 25 == 7 ? nil : pick(Self.colors),
            blurHash: count % 16 == 3 ? nil : "LOEn^cr?o}xt~VR*xuof-;R*t7of",
            description: count % 2 == 0 ? nil : "\(subject.noun.capitalizedFirst), seen \(place)",
            alternativeDescription:
                count % 30 == 19 ? .absent : count % 30 == 8 ? .null : .text(text),
            imagePath: count % 40 == 21 ? "/5/unsplash-kitsune-\(count).jpg" : "/\(name)",
            otherLikes: Int.random(in: 0...900, using: &random),
            views: Int.random(in: 1000...900_000, using: &random),
            downloads: Int.random(in: 0...9000, using: &random),
            tags: [subject.noun, "nature", "wallpaper"], camera: nil, place: nil,
            topics: count % 5 == 0 ? ["wallpapers"] : count % 7 == 0 ? ["nature"] : [])
        if count % 3 != 1 {
            photo.camera = SimulatedPhoto.Camera(
                make: "Canon", model: " EOS REBEL T3i",
                exposureTime: count % 2 == 0 ? "1/250" : "0.0111", aperture: "3.5",
                focalLength: "30.0", sensitivity: 100)
        }
        if count % 4 != 1 {
            photo.place =
                count % 4 == 2
                ? SimulatedPhoto.Place(latitude: 0, longitude: 0)
                : SimulatedPhoto.Place(
                    name: "Reykjavík, Iceland", city: "Reykjavík", country: "Iceland",
                    latitude: 64.1466, longitude: -21.9426)
        }
        photo.kind = count % 20 == 9 ? .illustration : .photo
        photo.isPlus = count % 18 == 11
        if photo.isPlus { photo.imagePath = "/premium_\(name)" }
        photo.hasLikes = count % 22 != 13
        photo.hasOffsetDates = count % 3 == 1
        if count % 15 == 0 {
            photo.sponsor = "docsign"
            photo.owner = "docsign"
        }
        return photo
    }

    private mutating func pick<Element>(_ elements: [Element]) -> Element {
        elements[Int.random(in: elements.indices, using: &random)]
    }

    /// Returns an ID of eleven characters; it begins with `-` or `_` more often than by chance.
    private mutating func identifier(_ count: Int) -> String {
        let id = random.identifier(11)
        return switch count % 17 {
        case 2: "-" + id.dropFirst()
        case 5: "_" + id.dropFirst()
        default: id
        }
    }

    private static let photographers: [(username: String, first: String, last: String?)] = [
        ("unsplash", "Unsplash", nil),
        ("lin", "Lin", "Wén 文"), ("ramses_c", "Ramsés", "Cervantes"), ("oweni", "Hao", "Wen"),
        ("andyjh07", "Andy", "Holmes"), ("docsign", "DocSign", nil), ("zoe-b", "Zoë", "<b>&amp;"),
    ]
    private static let topics = [
        ("wallpapers", "Wallpapers"), ("nature", "Nature"), ("street-photography", "Street"),
    ]
    private static let subjects: [(article: String, noun: String)] = [
        ("a", "dog"), ("an", "old lighthouse"), ("a", "mountain"), ("a", "river"),
        ("a", "red bicycle"), ("an", "aurora"), ("a", "forest"), ("a", "city street"),
    ]
    private static let places = [
        "under a clear sky", "in the morning haze", "at dusk", "covered in snow", "by the sea",
    ]
    private static let colors = ["#d9c0c0", "#40260c", "#262626", "#404026", "#c0d9f3", "#26590c"]
}

extension String {
    fileprivate var capitalizedFirst: String { prefix(1).uppercased() + dropFirst() }
}
