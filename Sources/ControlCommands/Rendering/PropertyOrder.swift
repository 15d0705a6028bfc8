internal import Contract

/// The order of the properties of D-Bus interfaces in JSON, which is that of their documentation.
enum PropertyOrder {
    static let manager = [
        "Version", "DefaultAccount", "Online", "MissingLimits", "InterfaceVersion",
    ]
    static let provider = [
        "Id", "Name", "IconName", "Authentication", "Capabilities", "Configured", "State",
        "StateReason", "Sandbox", "Help", "RedirectUri",
    ]
    static let account = [
        "Id", "Provider", "Username", "Server", "Label", "State", "StateReason", "Remedy",
        "RetryAt", "RateLimit", "Notices",
    ]
    static let login = ["State", "Provider", "AuthorizationUrl", "Account", "Error"]
    static let like = ["Pending", "Count"]
    static let profile = [
        "State", "Username", "Name", "Bio", "Location", "Url", "Avatar", "Editable",
    ]
    static let transfer = ["State", "Received", "Total", "Error"]
    static let combined = ["Incomplete"]
    static let slideshow = [
        "Photo", "Image", "Paused", "Interval", "Shuffle", "Source", "Sources", "Orientation",
        "ImageSize", "CanGoNext", "CanGoPrevious", "Hidden",
    ]
}
