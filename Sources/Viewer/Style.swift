/// The style rules of the program. Colours are those of the theme, so that dark mode and high contrast work.
enum Style {
    static let rules = """
        button.photo { padding: 0; border-radius: 8px; min-width: 8px; min-height: 8px;
            background: alpha(currentColor, 0.08); }
        button.photo > picture { border-radius: 8px; }
        button.photo:focus-visible { outline: 3px solid @accent_color; outline-offset: -3px; }
        button.photo.selected { outline: 4px solid @accent_bg_color; outline-offset: -4px; }
        image.selection { padding: 4px; border-radius: 999px; background: @accent_bg_color; color: @accent_fg_color; }
        .feed-selection { padding: 6px 12px; background: @headerbar_bg_color; }
        button.like { min-width: 32px; min-height: 32px; padding: 0; opacity: 0.6; }
        overlay:hover > button.like, button.like:focus-visible, button.like.liked, button.like.pending,
        overlay:hover > label.facts { opacity: 1; }
        button.liked { color: #e01b5a; }
        button.like.liked { color: #ff6b81; }
        button.pending, button.like.pending { opacity: 0.6; }
        .feed-banner { padding: 8px 12px; background: alpha(@warning_color, 0.16); }
        picture.cover { border-radius: 6px; }
        .sidebar-pane { background: @headerbar_bg_color; }
        .sidebar-pane list, .sidebar-pane headerbar { background: none; box-shadow: none; }
        .photo-page, .photo-page headerbar { background: #1c1c1e; color: white; box-shadow: none; }
        .photo-page .full-screen headerbar { background: alpha(#1c1c1e, 0.7); }
        .photo-page .background { color: @window_fg_color; }
        .photo-page .problem { padding: 18px; border-radius: 12px; }
        .photo-page .step { opacity: 0; transition: opacity 200ms; }
        .photo-page:hover .step { opacity: 0.9; }
        .photo-page.idle .step { opacity: 0; }
        .photo-page .step:focus-visible { opacity: 0.9; }
        label.key { padding: 2px 8px; border-radius: 6px; background: alpha(currentColor, 0.1);
            box-shadow: inset 0 -2px alpha(currentColor, 0.15); }
        label.month { padding: 14px 6px 8px; }
        label.month-label, label.badge { padding: 4px 10px; border-radius: 999px; }
        label.facts { padding: 4px 10px; border-radius: 0 0 8px 8px; opacity: 0.8; }
        .download-bar { padding: 10px 14px; }
        """
}
