// Package deploy brings pushed versions of providers to where they can serve.
//
// A version goes from state to state: its module is admitted, compiled and tried, and then it is approved or waits for an
// operator. Each step is one change of the store, so that a server that was killed goes on from the last one. One goroutine
// owns each version under way, and few of them work at a time.
//
// # The trial
//
// A trial runs the guest where all guests run, under the limits under which the version would serve: it starts it, and asks
// all that package check asks. It has the capabilities that an operator has approved in advance, and no others. Then what
// fails may fail for want of a capability: it is reported to the operator who approves, and refuses nothing.
//
// # Who approves
//
// Nothing that is covered by the policy of the provider, or by that of its active version, is asked again. Everything else
// waits for an operator, and is bounded by the tenant's plan.
package deploy
