internal import CAdwaita

/// The phase of a drag or of a gesture with two fingers.
package enum GesturePhase: Sendable { case began, changed, ended }

/// One step of a mouse wheel, or a movement of two fingers on a touchpad.
package nonisolated struct ScrollStep: Sendable {
    /// The distance in notches of a wheel, or in units of the view, to the right and down.
    package let x, y: Double
    package let isWheel, hasControl: Bool

    /// The units of a notch.
    package static let notch = 15.0

    package init(x: Double, y: Double, isWheel: Bool, hasControl: Bool) {
        (self.x, self.y, self.isWheel, self.hasControl) = (x, y, isWheel, hasControl)
    }
}

extension Widget {
    /// Adds an event controller, which belongs to the widget.
    private func controller(_ raw: OpaquePointer?) -> Object {
        let controller = Object(owning: raw)
        gtk_widget_add_controller(widget, OpaquePointer(g_object_ref(controller.raw)))
        return controller
    }

    /// Adds a gesture, and calls `handler` when it begins, changes and ends.
    private func onPhases(
        of gesture: OpaquePointer?, _ signals: [String],
        _ handler: @escaping (GesturePhase, SignalCall) -> Void
    ) {
        let gesture = controller(gesture)
        for (signal, phase) in zip(signals, [GesturePhase.began, .changed, .ended]) {
            gesture.connect(signal) { call in handler(phase, call) }
        }
    }

    /// Calls `handler` for each key while the widget or one of its children has the focus.
    ///
    /// - Parameters:
    ///   - isFirst: True to call the handler before the children.
    ///   - handler: Receives the name of the key with its modifiers, such as `Left`, `plus` or `Control+s`. Returns true
    ///     if it handled the key.
    package func onKey(
        beforeChildren isFirst: Bool = false, _ handler: @escaping (String) -> Bool
    ) {
        let keys = controller(gtk_event_controller_key_new())
        if isFirst { gtk_event_controller_set_propagation_phase(keys.opaque, GTK_PHASE_CAPTURE) }
        keys.connect("key-pressed") { call in
            let name = text(gdk_keyval_name(call.unsigned(1)))
            var modifiers = [(GDK_CONTROL_MASK, "Control+"), (GDK_ALT_MASK, "Alt+")]
            // The names of other keys with Shift are different.
            if name.hasPrefix("F") && name.count > 1 || name == "space" || name == "C" {
                modifiers.append((GDK_SHIFT_MASK, "Shift+"))
            }
            let pressed = modifiers.filter { call.flags(3) & $0.0.rawValue != 0 }.map(\.1)
            call.reply(handler(pressed.joined() + name))
        }
    }

    /// Calls `handler` for each press of a mouse button, or touch.
    ///
    /// - Parameters:
    ///   - button: 1 for the primary, 3 for the secondary button.
    ///   - handler: Receives the number of presses in a row and the position.
    package func onPress(
        button: Int = 1, _ handler: @escaping (_ count: Int, _ x: Double, _ y: Double) -> Void
    ) {
        let clicks = controller(gtk_gesture_click_new())
        gtk_gesture_single_set_button(clicks.opaque, guint(button))
        clicks.connect("pressed") { call in handler(call.int(1), call.double(2), call.double(3)) }
    }

    /// Calls `handler` for a press of the primary mouse button with Control or Shift, in place of the children.
    package func onModifiedPress(_ handler: @escaping (_ isShift: Bool) -> Void) {
        let clicks = controller(gtk_gesture_click_new())
        gtk_gesture_single_set_button(clicks.opaque, 1)
        gtk_event_controller_set_propagation_phase(clicks.opaque, GTK_PHASE_CAPTURE)
        clicks.connect("pressed") { call in
            let state = gtk_event_controller_get_current_event_state(call.sender).rawValue
            let isShift = state & GDK_SHIFT_MASK.rawValue != 0
            guard isShift || state & GDK_CONTROL_MASK.rawValue != 0 else { return }
            gtk_gesture_set_state(call.sender, GTK_EVENT_SEQUENCE_CLAIMED)
            handler(isShift)
        }
    }

    /// Calls `handler` for a press of the secondary mouse button and for a long touch, with the position.
    package func onSecondaryPress(_ handler: @escaping (_ x: Double, _ y: Double) -> Void) {
        onPress(button: 3) { _, x, y in handler(x, y) }
        let touches = controller(gtk_gesture_long_press_new())
        gtk_gesture_single_set_touch_only(touches.opaque, 1)
        touches.connect("pressed") { call in handler(call.double(1), call.double(2)) }
    }

    /// Calls `handler` while the pointer drags with the primary button.
    ///
    /// - Parameter handler: Receives the distance from the start, and the time of the event in seconds. The time is that
    ///   of the display, so that a delay of the program does not change the speed of the movement.
    package func onDrag(
        _ handler: @escaping (GesturePhase, _ x: Double, _ y: Double, _ time: Double) -> Void
    ) {
        onPhases(of: gtk_gesture_drag_new(), ["drag-begin", "drag-update", "drag-end"]) {
            phase, call in
            let milliseconds = gtk_event_controller_get_current_event_time(call.sender)
            // A cancelled drag has no event.
            let time = milliseconds == 0 ? Application.seconds : Double(milliseconds) / 1000
            // The values of the begin are those of the point.
            let isBegin = phase == .began
            handler(phase, isBegin ? 0 : call.double(1), isBegin ? 0 : call.double(2), time)
        }
    }

    /// Calls `handler` for each step of a mouse wheel or movement on a touchpad.
    package func onScroll(_ handler: @escaping (ScrollStep) -> Void) {
        let steps = controller(
            gtk_event_controller_scroll_new(GTK_EVENT_CONTROLLER_SCROLL_BOTH_AXES))
        steps.connect("scroll") { call in
            let device = gtk_event_controller_get_current_event_device(call.sender)
            let source = device.map { gdk_device_get_source($0) }
            let isTouchpad = source == GDK_SOURCE_TOUCHPAD
            let unit = gtk_event_controller_scroll_get_unit(call.sender)
            let isNotch = unit == GDK_SCROLL_UNIT_WHEEL
            // X11 reports the movement on a touchpad in parts of a notch.
            let scale = isTouchpad && isNotch ? ScrollStep.notch : 1
            let state = gtk_event_controller_get_current_event_state(call.sender).rawValue
            handler(
                ScrollStep(
                    x: call.double(1) * scale, y: call.double(2) * scale,
                    isWheel: isNotch && !isTouchpad,
                    hasControl: state & GDK_CONTROL_MASK.rawValue != 0))
            call.reply(true)
        }
    }

    /// Calls `handler` while two fingers change their distance.
    ///
    /// - Parameter handler: Receives the factor since the beginning, and the point between the fingers, which has no
    ///   meaning at the end.
    package func onPinch(
        _ handler: @escaping (GesturePhase, _ factor: Double, _ x: Double, _ y: Double) -> Void
    ) {
        onPhases(of: gtk_gesture_zoom_new(), ["begin", "scale-changed", "end"]) { phase, call in
            var x = 0.0
            var y = 0.0
            gtk_gesture_get_bounding_box_center(call.sender, &x, &y)
            handler(phase, phase == .changed ? call.double(1) : 1, x, y)
        }
    }

    /// Calls `handler` while two fingers turn.
    ///
    /// - Parameter handler: Receives the angle since the beginning in radians, clockwise, from 0 to 2π.
    package func onTurn(_ handler: @escaping (GesturePhase, _ angle: Double) -> Void) {
        onPhases(of: gtk_gesture_rotate_new(), ["begin", "angle-changed", "end"]) { phase, call in
            handler(phase, phase == .changed ? call.double(2) : 0)
        }
    }

    /// Calls `handler` for each movement of the pointer.
    package func onPointer(_ handler: @escaping (_ x: Double, _ y: Double) -> Void) {
        let motion = controller(gtk_event_controller_motion_new())
        for signal in ["enter", "motion"] {
            motion.connect(signal) { call in handler(call.double(1), call.double(2)) }
        }
    }
}
