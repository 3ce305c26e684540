// Package bench has the command bench, which measures how fast a provider answers reads, and with how much fuel.
package bench
