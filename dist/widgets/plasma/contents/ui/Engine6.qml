// SPDX-License-Identifier: Apache-2.0
import org.kde.plasma.plasma5support as Plasma5Support

Plasma5Support.DataSource { engine: "executable" }
