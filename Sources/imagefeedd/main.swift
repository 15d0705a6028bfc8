internal import DBus
