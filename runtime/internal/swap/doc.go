// Package swap makes a source of resources whose inside can be replaced while it is served.
//
// It owns which generation of the inside answers a call, when one that was replaced is closed, and how those who watch
// move from one to the next. It never looks into a generation, and keeps nothing of what one has answered. internal/app
// may import it.
//
// # Generations
//
// A call belongs to the generation that is there when it begins, and ends on that one. A generation that has been
// replaced is closed, once, when the last of its calls has ended; nobody waits for that but Close. Nothing is carried
// over but the watches: cursors and sessions of one generation mean to the next whatever that makes of them.
//
// # Watches
//
// Whoever watches is told, when the next generation watches for them, that the list and all they watch may have
// changed. What a generation does not watch is not forgotten: the one after it is asked again. While there is no
// generation, whatever is a URI can be watched.
package swap
