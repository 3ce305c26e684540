// Package dev has the command dev, which builds and serves a project whenever a file of it changes.
package dev
