// Package preinit initialises a module when it is built, so that it need not be when it starts: it runs an exported
// function and writes the memory and the globals that this leaves back into the module.
package preinit
