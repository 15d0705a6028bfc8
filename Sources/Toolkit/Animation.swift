internal import CAdwaita

/// An animation that is fast at first. It ends early if its owner releases it.
package final class Animation: Object {
    /// Starts an animation. There is only its end if the user turned animations off or the widget is hidden.
    ///
    /// - Parameters:
    ///   - widget: The widget.
    ///   - seconds: The duration.
    ///   - handler: Receives the part that is done, up to 1 at the end.
    package init(_ widget: Widget, seconds: Double = 0.2, _ handler: @escaping (Double) -> Void) {
        let target = adw_callback_animation_target_new(
            { HandlerContext<Double>.call($1, $0) }, HandlerContext.retained(handler),
            { HandlerContext<Double>.release($0) })
        super.init(
            owning: UnsafeMutableRawPointer(
                adw_timed_animation_new(widget.widget, 0, 1, guint(seconds * 1000), target)))
        adw_animation_play(cast())
    }

    isolated deinit { adw_animation_pause(cast()) }
}
