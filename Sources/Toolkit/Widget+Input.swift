internal import CAdwaita

/// A pressed key.
package nonisolated struct KeyPress: Sendable {
    /// The name of the key, such as `Left`, `plus` or `a`.
    package let name: String
    package let isControl: Bool
    package let isShift: Bool
    package let isAlt: Bool

    /// The name with the modifiers before it, such as `Control+s`.
    package var combination: String {
        // The names of other keys with Shift are different.
        let isShift = isShift && (name.hasPrefix("F") && name.count > 1 || name == "space")
        return (isControl ? "Control+" : "") + (isAlt ? "Alt+" : "") + (isShift ? "Shift+" : "")
            + name
    }
}

/// The phase of a drag or of a gesture with two fingers.
package enum GesturePhase: Sendable { case began, changed, ended }

extension Widget {
    /// Calls `handler` for each key while the widget or one of its children has the focus.
    ///
    /// - Parameters:
    ///   - isFirst: True to call the handler before the children.
    ///   - handler: Returns true if it handled the key.
    package func onKey(
        beforeChildren isFirst: Bool = false, _ handler: @escaping (KeyPress) -> Bool
    ) {
        let controller = Object(owning: gtk_event_controller_key_new())
        if isFirst {
            gtk_event_controller_set_propagation_phase(controller.opaque, GTK_PHASE_CAPTURE)
        }
        controller.connect("key-pressed") { call in
            let state = call.flags(3)
            let key = KeyPress(
                name: text(gdk_keyval_name(call.unsigned(1))),
                isControl: state & GDK_CONTROL_MASK.rawValue != 0,
                isShift: state & GDK_SHIFT_MASK.rawValue != 0,
                isAlt: state & GDK_ALT_MASK.rawValue != 0)
            call.reply(handler(key))
        }
        add(controller)
    }

    /// Calls `handler` for each press of a mouse button, or touch.
    ///
    /// - Parameters:
    ///   - button: 1 for the primary, 3 for the secondary button.
    ///   - handler: Receives the number of presses in a row and the position.
    package func onPress(
        button: Int = 1, _ handler: @escaping (_ count: Int, _ x: Double, _ y: Double) -> Void
    ) {
        let controller = Object(owning: gtk_gesture_click_new())
        gtk_gesture_single_set_button(controller.opaque, guint(button))
        controller.connect("pressed") { call in handler(call.int(1), call.double(2), call.double(3))
        }
        add(controller)
    }

    /// Calls `handler` for a press of the primary mouse button with Control or Shift, in place of the children.
    package func onModifiedPress(_ handler: @escaping (_ isShift: Bool) -> Void) {
        let controller = Object(owning: gtk_gesture_click_new())
        gtk_gesture_single_set_button(controller.opaque, 1)
        gtk_event_controller_set_propagation_phase(controller.opaque, GTK_PHASE_CAPTURE)
        keep(controller)
        controller.connect("pressed") { [unowned controller] _ in
            let state = gtk_event_controller_get_current_event_state(controller.opaque).rawValue
            let isShift = state & GDK_SHIFT_MASK.rawValue != 0
            guard isShift || state & GDK_CONTROL_MASK.rawValue != 0 else { return }
            gtk_gesture_set_state(controller.opaque, GTK_EVENT_SEQUENCE_CLAIMED)
            handler(isShift)
        }
        add(controller)
    }

    /// Calls `handler` for a press of the secondary mouse button and for a long touch, with the position.
    package func onSecondaryPress(_ handler: @escaping (_ x: Double, _ y: Double) -> Void) {
        onPress(button: 3) { _, x, y in handler(x, y) }
        let controller = Object(owning: gtk_gesture_long_press_new())
        gtk_gesture_single_set_touch_only(controller.opaque, 1)
        controller.connect("pressed") { call in handler(call.double(1), call.double(2)) }
        add(controller)
    }

    /// Calls `handler` while the pointer drags with the primary button.
    ///
    /// - Parameter handler: Receives the distance from the start, and the time of the event in seconds. The time is that
    ///   of the display, so that a delay of the program does not change the speed of the movement.
    package func onDrag(
        _ handler: @escaping (GesturePhase, _ x: Double, _ y: Double, _ time: Double) -> Void
    ) {
        let controller = Object(owning: gtk_gesture_drag_new())
        keep(controller)
        let time = { [unowned controller] in
            let milliseconds = gtk_event_controller_get_current_event_time(controller.opaque)
            // A cancelled drag has no event.
            return milliseconds == 0
                ? Double(g_get_monotonic_time()) / 1e6 : Double(milliseconds) / 1000
        }
        controller.connect("drag-begin") { _ in handler(.began, 0, 0, time()) }
        controller.connect("drag-update") { call in
            handler(.changed, call.double(1), call.double(2), time())
        }
        controller.connect("drag-end") { call in
            handler(.ended, call.double(1), call.double(2), time())
        }
        add(controller)
    }

    /// Calls `handler` for each step of the mouse wheel or touch pad.
    ///
    /// - Parameter handler: Receives the distances and true if Control is pressed. Returns true if it handled the step.
    package func onScroll(
        _ handler: @escaping (_ x: Double, _ y: Double, _ isControl: Bool) -> Bool
    ) {
        let raw = gtk_event_controller_scroll_new(GTK_EVENT_CONTROLLER_SCROLL_BOTH_AXES)
        let controller = Object(owning: raw)
        controller.connect("scroll") { [unowned controller] call in
            let state = gtk_event_controller_get_current_event_state(controller.opaque)
            let isControl = state.rawValue & GDK_CONTROL_MASK.rawValue != 0
            call.reply(handler(call.double(1), call.double(2), isControl))
        }
        add(controller)
        keep(controller)
    }

    /// Calls `handler` while two fingers change their distance.
    ///
    /// - Parameter handler: Receives the factor since the beginning, and the point between the fingers, which has no
    ///   meaning at the end.
    package func onPinch(
        _ handler: @escaping (GesturePhase, _ factor: Double, _ x: Double, _ y: Double) -> Void
    ) {
        let controller = Object(owning: gtk_gesture_zoom_new())
        keep(controller)
        let center = { [unowned controller] in
            var x = 0.0
            var y = 0.0
            gtk_gesture_get_bounding_box_center(controller.opaque, &x, &y)
            return (x, y)
        }
        controller.connect("begin") { _ in
            let (x, y) = center()
            handler(.began, 1, x, y)
        }
        controller.connect("scale-changed") { call in
            let (x, y) = center()
            handler(.changed, call.double(1), x, y)
        }
        controller.connect("end") { _ in handler(.ended, 1, 0, 0) }
        add(controller)
    }

    /// Calls `handler` while two fingers turn.
    ///
    /// - Parameter handler: Receives the angle since the beginning in radians, clockwise, from 0 to 2π.
    package func onTurn(_ handler: @escaping (GesturePhase, _ angle: Double) -> Void) {
        let controller = Object(owning: gtk_gesture_rotate_new())
        controller.connect("begin") { _ in handler(.began, 0) }
        controller.connect("angle-changed") { call in handler(.changed, call.double(2)) }
        controller.connect("end") { _ in handler(.ended, 0) }
        add(controller)
    }

    /// Calls the handlers for each movement of the pointer and when it leaves.
    package func onPointer(
        moved: @escaping (_ x: Double, _ y: Double) -> Void, left: @escaping () -> Void
    ) {
        let controller = Object(owning: gtk_event_controller_motion_new())
        controller.connect("enter") { call in moved(call.double(1), call.double(2)) }
        controller.connect("motion") { call in moved(call.double(1), call.double(2)) }
        controller.connect("leave") { _ in left() }
        add(controller)
    }

    /// Calls `handler` when the widget or one of its children gets or loses the focus.
    package func onFocusChange(_ handler: @escaping (_ isFocused: Bool) -> Void) {
        let controller = Object(owning: gtk_event_controller_focus_new())
        controller.connect("enter") { _ in handler(true) }
        controller.connect("leave") { _ in handler(false) }
        add(controller)
    }

    /// Keeps the wrapper of a controller as long as the widget exists, for handlers that use it.
    private func keep(_ controller: Object) {
        connect("destroy") { _ in withExtendedLifetime(controller) {} }
    }
}
