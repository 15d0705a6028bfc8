// SPDX-License-Identifier: Apache-2.0
// Runs commands with Plasma's executable engine, which reports a command when it ends.
import QtQuick 2.15

FirstOf {
    id: commands

    property var slideshow
    property var callbacks: ({})
    // The option that names the slideshow.
    readonly property string option: slideshow && slideshow.name ? " --name=" + quote(slideshow.name) : ""

    // Runs a command, which Plasma passes to the shell: it consists of constants and of quoted words. A command that is
    // still running is not started again. `done` is called with the exit status, the standard output and the standard error.
    function run(command, done) {
        if (callbacks[command]) return
        callbacks[command] = done
        item.connectSource(command)
    }

    // Quotes a text for the shell, which interprets no character between single quotes.
    function quote(text) { return "'" + text.replace(/'/g, "'\\''") + "'" }

    // Lists the sources of all accounts. An account that cannot list its sources contributes its default source only.
    function listSources() {
        run("imagefeedctl accounts --json", (status, output) => {
            if (status !== 0) return
            const accounts = JSON.parse(output).filter(account => account.State !== "logged-out")
            const lists = accounts.map(account => [[account.Label, account.Id]])
            slideshow.accountSources = [].concat(...lists)
            accounts.forEach((account, index) => {
                run("imagefeedctl sources --json --account " + quote(account.Id), (status, output) => {
                    if (status !== 0) return
                    lists[index] = lists[index].concat(JSON.parse(output).map(({ id, title }) =>
                        [slideshow.oneLine(account.Label + ": " + (title || id)), account.Id + ":" + id]))
                    slideshow.accountSources = [].concat(...lists)
                })
            })
        })
    }

    // Returns the command for a setting.
    function setter(name, value) {
        const set = "imagefeedctl slideshow set" + option + " --"
        if (name === "shuffle") return set + (value ? "shuffle" : "no-shuffle")
        return set + name + " " + quote(name === "interval" ? value + "s" : value)
    }

    // Chooses photos of the shape of the widget, unless the settings belong to all widgets, and calls `done`.
    function orient(done) {
        if (!slideshow.name || !slideshow.orientation) return done()
        run(setter("orientation", slideshow.orientation), done)
    }

    files: ["Engine6.qml", "Engine5.qml"]
    Connections {
        target: commands.item
        function onNewData(command, data) {
            const done = commands.callbacks[command]
            delete commands.callbacks[command]
            commands.item.disconnectSource(command)
            if (done) done(data["exit code"], data["stdout"], data["stderr"].trim())
        }
    }
}
