// Package reload makes a source of resources that can be replaced while it is served.
//
// It decides which generation answers a call, and when a replaced one is closed, and it moves subscriptions from one to
// the next. It stores no answers. Package runtime may import it.
//
// # Generations
//
// A call belongs to the generation that is current when the call begins, and ends on that one. A replaced generation is
// closed once, when the last of its calls has ended; only Close waits for that. Only subscriptions carry over: cursors
// and sessions of one generation reach the next as they are, which decides what they mean.
//
// # Subscriptions
//
// When a subscription has moved to the next generation, its Notifier receives a change of the list and of every resource
// subscribed to, but for those that the generations say they serve alike: see [Marked]. Until it has moved, the earlier
// generation reports to it. URIs that a generation refuses stay part of the subscription: the generation after it is asked again.
// While there is no generation, every URI is accepted.
package reload
