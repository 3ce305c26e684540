// Package browse has the command browse, a viewer of a provider's resources on a terminal. No other package imports
// bubbletea.
package browse
