// Package build has the commands new and build, which make a project and compile it to a provider.
package build
