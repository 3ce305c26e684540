// Package quota bounds what a tenant uses, as its plan says: requests of the tenant, of each of its clients and of each of its
// providers; requests, streams and sessions at once; bytes of answers a second and a day; and processor time of its providers a
// day.
//
// A [Tenant] is the [admission.Gate] of the tenant's server. It lives as long as the process, also while the tenant has no
// server. A [Book] has all of them, and stores what they have used today, so that a restart gives no second budget.
//
// All times are of the monotonic clock. The wall clock only says, once a day, how long it is until midnight UTC.
package quota
