// Package permission has the commands permission and policy, about what providers may touch.
package permission
