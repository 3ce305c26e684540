// Package streamtest has requests, a source and handlers for the tests of the HTTP front. Only tests import it.
package streamtest
