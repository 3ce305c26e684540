package guest

// A ResetMode says how each call gets an instance that is like the image.
type ResetMode string

// The reset modes, the quickest first.
const (
	ResetInPlace   ResetMode = "reset"   // instances are reset to the image
	ResetOrReplace ResetMode = "replace" // likewise; an instance that changed what a reset does not restore is replaced
	StartFresh     ResetMode = "boot"    // there is no image: each call starts an instance
)
