/// The version of the daemon and of its command line.
package let programVersion = "0.1.0"
