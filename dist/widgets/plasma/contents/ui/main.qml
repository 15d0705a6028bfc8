// SPDX-License-Identifier: Apache-2.0
import QtQuick 2.15
import org.kde.kirigami 2.20 as Kirigami
import org.kde.plasma.plasmoid 2.0

// In Plasma 6, the module above has this type. In Plasma 5, it is the file in this folder.
PlasmoidItem {
    Slideshow { id: feed; name: Plasmoid.configuration.slideshow }

    switchWidth: Kirigami.Units.gridUnit * 10
    switchHeight: Kirigami.Units.gridUnit * 10
    toolTipSubText: feed.caption
    fullRepresentation: PhotoView {
        slideshow: feed
        fit: Plasmoid.configuration.fit
        everyShape: Plasmoid.configuration.everyShape
        onFitChosen: choice => { Plasmoid.configuration.fit = choice }
        onNameChosen: name => { Plasmoid.configuration.slideshow = name }
        onEveryShapeChosen: choice => { Plasmoid.configuration.everyShape = choice }
    }
}
