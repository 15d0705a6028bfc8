// SPDX-License-Identifier: Apache-2.0
// The slideshow by commands, for versions of Plasma in which QML cannot follow D-Bus signals.
import QtQuick 2.15

Item {
    id: backend

    property var slideshow
    // True if the last monitor ended because there is no daemon.
    property bool isAbsent: false

    // Each command is a constant.
    readonly property string monitor: "imagefeedctl monitor --json --count 1"

    function attach() {
        slideshow.problem = ""
        // This process keeps the slideshow running until the widget is removed. Its output is not used: the engine
        // passes it on when the process ends.
        commands.run("imagefeedctl slideshow watch", backend.fail)
        follow()
    }
    function next() { act("imagefeedctl slideshow next") }
    function toggle() { act("imagefeedctl toggle") }
    function open() { act("imagefeedctl open") }
    function hide() { act("imagefeedctl slideshow hide") }
    function setShuffle(on) { act(on ? "imagefeedctl slideshow set --shuffle" : "imagefeedctl slideshow set --no-shuffle") }
    function setInterval(choice) { act(choice.command) }
    function setSource(choice) { act(choice.command) }

    function act(command) {
        slideshow.notice = ""
        commands.run(command, (status, output, error) => {
            if (status !== 0) slideshow.notice = error
            refresh()
        })
    }
    function fail(status, output, error) {
        if (status === 127) slideshow.problem = slideshow.notInstalled
        else if (status !== 0) slideshow.problem = error
    }
    function refresh() {
        commands.run("imagefeedctl slideshow --json", (status, output, error) => {
            if (status === 0) slideshow.update(JSON.parse(output))
            else fail(status, output, error)
        })
    }

    // Waits for an event, and reads the state after it. Events between two monitors are not lost: the state is read
    // again when the new monitor has started.
    function follow() {
        commands.run(monitor, (status, output, error) => {
            confirmation.stop()
            if (status !== 0) return fail(status, output, error)
            const wasAbsent = isAbsent
            isAbsent = JSON.parse(output).event === "daemon-gone"
            if (!isAbsent) {
                refresh()
                restart.start()
            } else if (!wasAbsent) {
                // The daemon may have been replaced. If so, the next monitor waits for its next event.
                follow()
            } else {
                awaitDaemon()
            }
        })
        confirmation.start()
    }
    // Waits for the start of the daemon. The first event is that it is not running.
    function awaitDaemon() {
        absence.start()
        commands.run("imagefeedctl monitor --json --count 2", (status, output, error) => {
            absence.stop()
            isAbsent = false
            if (status !== 0) return fail(status, output, error)
            refresh()
            restart.start()
        })
    }

    Commands { id: commands }
    Timer {
        id: confirmation
        interval: 1000
        onTriggered: {
            backend.isAbsent = false
            backend.refresh()
        }
    }
    // Limits the number of monitors while there are many events, such as those of a download.
    Timer {
        id: restart
        interval: 1000
        onTriggered: backend.follow()
    }
    // An upgrade restarts the daemon within this time. Neither command starts the daemon.
    Timer {
        id: absence
        interval: 10000
        onTriggered: {
            backend.slideshow.problem = backend.slideshow.notRunning
            commands.run("imagefeedctl --version", backend.fail)
        }
    }
}
