// Package inspect has the command inspect, which prints what a provider is, asks for and may do.
package inspect
