internal import CAdwaita

@MainActor
package enum AboutWindow {
    package static func present(
        _ parent: Window, name: String, icon: String, version: String, website: String,
        comments: String
    ) {
        let about = Widget(adw_about_window_new())
        adw_about_window_set_application_name(about.opaque, name)
        adw_about_window_set_application_icon(about.opaque, icon)
        adw_about_window_set_version(about.opaque, version)
        adw_about_window_set_website(about.opaque, website)
        adw_about_window_set_comments(about.opaque, comments)
        adw_about_window_set_license_type(about.opaque, GTK_LICENSE_APACHE_2_0)
        gtk_window_set_transient_for(about.cast(), parent.window)
        gtk_window_set_modal(about.cast(), 1)
        gtk_window_present(about.cast())
    }
}
