// SPDX-License-Identifier: Apache-2.0
// Runs commands with Plasma's executable engine, which reports a command when it ends.
import QtQuick 2.15

FirstOf {
    id: commands

    property var slideshow
    property var callbacks: ({})

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
        if (name === "shuffle") return "imagefeedctl slideshow set " + (value ? "--shuffle" : "--no-shuffle")
        return "imagefeedctl slideshow set --" + name + " " + (name === "source" ? quote(value) : value + "s")
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
