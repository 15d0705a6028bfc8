// Written by dist/development/manual from dist/interfaces; run it after a change of these files.

package import DBus

extension InterfaceName {
    package static let manager: InterfaceName = "org.imagefeed.ImageFeed1.Manager"
    package static let provider: InterfaceName = "org.imagefeed.ImageFeed1.Provider"
    package static let login: InterfaceName = "org.imagefeed.ImageFeed1.Login"
    package static let account: InterfaceName = "org.imagefeed.ImageFeed1.Account"
    package static let feed: InterfaceName = "org.imagefeed.ImageFeed1.Feed"
    package static let like: InterfaceName = "org.imagefeed.ImageFeed1.Like"
    package static let profile: InterfaceName = "org.imagefeed.ImageFeed1.Profile"
    package static let combined: InterfaceName = "org.imagefeed.ImageFeed1.Combined"
    package static let slideshow: InterfaceName = "org.imagefeed.ImageFeed1.Slideshow"
    package static let transfer: InterfaceName = "org.imagefeed.ImageFeed1.Transfer"

    /// The versions of the interfaces, except those of version 1.
    static let versions: [InterfaceName: UInt32] = [:]

    /// The properties of each interface in the order of their documentation, without the version of the interface.
    static let properties: [InterfaceName: [String]] = [
        .manager: ["Version", "DefaultAccount", "Online", "Notices", "InterfaceVersion"],
        .provider: [
            "Id", "Name", "IconName", "Authentication", "Capabilities", "Configured", "State",
            "StateReason", "Sandbox", "Help", "RedirectUri",
        ],
        .login: ["State", "Provider", "AuthorizationUrl", "Account", "Error"],
        .account: [
            "Id", "Provider", "Username", "Server", "Label", "State", "StateReason", "Remedy",
            "RetryAt", "RateLimit", "Notices",
        ],
        .feed: ["DefaultSource"],
        .like: ["Pending", "Count"],
        .profile: ["State", "Username", "Name", "Bio", "Location", "Url", "Avatar", "Editable"],
        .combined: ["Incomplete"],
        .slideshow: [
            "Photo", "Image", "Paused", "Interval", "Shuffle", "Source", "Sources", "Orientation",
            "ImageSize", "CanGoNext", "CanGoPrevious", "Hidden",
        ],
        .transfer: ["State", "Received", "Total", "Error"],
    ]
}

/// The methods, signals and properties.
extension MemberName {
    package static let account: MemberName = "Account"
    package static let attach: MemberName = "Attach"
    package static let authentication: MemberName = "Authentication"
    package static let authorizationUrl: MemberName = "AuthorizationUrl"
    package static let avatar: MemberName = "Avatar"
    package static let bio: MemberName = "Bio"
    package static let canGoNext: MemberName = "CanGoNext"
    package static let canGoPrevious: MemberName = "CanGoPrevious"
    package static let cancel: MemberName = "Cancel"
    package static let capabilities: MemberName = "Capabilities"
    package static let changed: MemberName = "Changed"
    package static let configure: MemberName = "Configure"
    package static let configured: MemberName = "Configured"
    package static let count: MemberName = "Count"
    package static let defaultAccount: MemberName = "DefaultAccount"
    package static let defaultSource: MemberName = "DefaultSource"
    package static let detach: MemberName = "Detach"
    package static let download: MemberName = "Download"
    package static let editable: MemberName = "Editable"
    package static let error: MemberName = "Error"
    package static let failed: MemberName = "Failed"
    package static let getImage: MemberName = "GetImage"
    package static let getPage: MemberName = "GetPage"
    package static let getPhoto: MemberName = "GetPhoto"
    package static let help: MemberName = "Help"
    package static let hidden: MemberName = "Hidden"
    package static let hide: MemberName = "Hide"
    package static let iconName: MemberName = "IconName"
    package static let id: MemberName = "Id"
    package static let image: MemberName = "Image"
    package static let imageSize: MemberName = "ImageSize"
    package static let incomplete: MemberName = "Incomplete"
    package static let interfaceVersion: MemberName = "InterfaceVersion"
    package static let interval: MemberName = "Interval"
    package static let label: MemberName = "Label"
    package static let like: MemberName = "Like"
    package static let listSources: MemberName = "ListSources"
    package static let location: MemberName = "Location"
    package static let login: MemberName = "Login"
    package static let logout: MemberName = "Logout"
    package static let name: MemberName = "Name"
    package static let next: MemberName = "Next"
    package static let notices: MemberName = "Notices"
    package static let online: MemberName = "Online"
    package static let openBrowser: MemberName = "OpenBrowser"
    package static let openImage: MemberName = "OpenImage"
    package static let openSlideshow: MemberName = "OpenSlideshow"
    package static let orientation: MemberName = "Orientation"
    package static let paused: MemberName = "Paused"
    package static let pending: MemberName = "Pending"
    package static let photo: MemberName = "Photo"
    package static let photoChanged: MemberName = "PhotoChanged"
    package static let photosChanged: MemberName = "PhotosChanged"
    package static let photosRemoved: MemberName = "PhotosRemoved"
    package static let previous: MemberName = "Previous"
    package static let provider: MemberName = "Provider"
    package static let rateLimit: MemberName = "RateLimit"
    package static let received: MemberName = "Received"
    package static let redirectUri: MemberName = "RedirectUri"
    package static let refresh: MemberName = "Refresh"
    package static let remedy: MemberName = "Remedy"
    package static let remove: MemberName = "Remove"
    package static let retryAt: MemberName = "RetryAt"
    package static let sandbox: MemberName = "Sandbox"
    package static let server: MemberName = "Server"
    package static let setAvatar: MemberName = "SetAvatar"
    package static let show: MemberName = "Show"
    package static let shuffle: MemberName = "Shuffle"
    package static let source: MemberName = "Source"
    package static let sources: MemberName = "Sources"
    package static let state: MemberName = "State"
    package static let stateReason: MemberName = "StateReason"
    package static let submitCode: MemberName = "SubmitCode"
    package static let toggle: MemberName = "Toggle"
    package static let tokenRemains: MemberName = "TokenRemains"
    package static let total: MemberName = "Total"
    package static let unhide: MemberName = "Unhide"
    package static let unlike: MemberName = "Unlike"
    package static let updated: MemberName = "Updated"
    package static let url: MemberName = "Url"
    package static let username: MemberName = "Username"
    package static let version: MemberName = "Version"
    package static let wait: MemberName = "Wait"
}
