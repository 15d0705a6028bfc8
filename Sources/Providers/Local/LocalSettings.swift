package import ProviderKit

/// The settings of the photos on this computer.
package struct LocalSettings: Sendable {
    /// True if photos contain the place where they were taken.
    let showsLocation: Bool
    /// The decision which files and folders are not shown.
    let filter: PhotoFilter
    /// The order of all photos and albums.
    let order: PictureIndex.Order

    /// - Parameters:
    ///   - showsLocation: True if photos contain the place where they were taken.
    ///   - exclusions: The files and folders that are not shown.
    ///   - order: The value of `Order=`; nil for the default one.
    package init(
        showsLocation: Bool = false, exclusions: PathPatterns = PathPatterns(list: ""),
        order: String? = nil
    ) {
        self.showsLocation = showsLocation
        filter = PhotoFilter(exclusions: exclusions)
        self.order = order.flatMap(PictureIndex.Order.init) ?? .taken
    }
}
