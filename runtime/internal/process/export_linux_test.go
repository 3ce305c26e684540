package process

// ForkServerName is what a fork server is called.
const ForkServerName = forkServerName
