// SPDX-License-Identifier: Apache-2.0
// The slideshow by commands, for versions of Plasma in which QML cannot follow D-Bus signals.
import QtQuick 2.15

Commands {
    id: backend

    // The number of monitors in succession that ended because there is no daemon.
    property int absences: 0

    function attach() {
        slideshow.problem = ""
        absences = 0
        orient(() => {
            // This process keeps the slideshow running until the widget is removed. The engine passes on its output
            // only when it ends.
            run("imagefeedctl slideshow watch" + option, check)
            refresh()
            follow()
        })
    }
    function act(name) {
        const photo = " " + quote(slideshow.photo.id)
        if (name === "next") change("imagefeedctl slideshow next" + option)
        else if (name === "hide") change("imagefeedctl slideshow hide" + option + photo)
        else change("imagefeedctl " + name + photo)
    }
    function set(name, value) { change(setter(name, value)) }
    function change(command) {
        run(command, (status, output, error) => { slideshow.notice = error; refresh() })
    }
    function refresh() {
        run("imagefeedctl slideshow --json" + option, (status, output, error) => {
            if (check(status, output, error)) slideshow.update(JSON.parse(output))
        })
    }
    function check(status, output, error) {
        if (status !== 0) slideshow.problem = status === 127 ? slideshow.notInstalled : error
        return status === 0
    }

    // Waits for an event, and reads the state after it. No change between two monitors is lost, because the state is
    // read again when the second one has started.
    //
    // An absent daemon is an event at once. The first one may mean that the daemon was replaced, so a second monitor
    // checks this. The third one waits for another event, which is the start of the daemon.
    function follow() {
        const timer = absences === 2 ? absence : confirmation
        timer.start()
        run("imagefeedctl monitor --json --count " + (timer === absence ? "2" : "1"), (status, output, error) => {
            timer.stop()
            if (!check(status, output, error)) return
            absences = timer !== absence && JSON.parse(output).event === "daemon-gone" ? absences + 1 : 0
            if (absences > 0) return follow()
            refresh()
            restart.start()
        })
    }
    Timer { id: confirmation; interval: 1000; onTriggered: { backend.absences = 0; backend.refresh() } }
    // Limits the number of monitors during a download, which causes many events.
    Timer { id: restart; interval: 1000; onTriggered: backend.follow() }
    // An upgrade restarts the daemon within this time. The command does not start the daemon.
    Timer {
        id: absence
        interval: 10000
        onTriggered: {
            backend.slideshow.problem = backend.slideshow.notRunning
            backend.run("imagefeedctl --version", backend.check)
        }
    }
}
