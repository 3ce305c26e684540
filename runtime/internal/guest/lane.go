package guest

// A Lane says how each request gets an instance like the image.
type Lane string

// The lanes, the quickest first.
const (
	LaneReset   Lane = "reset"   // instances are put back to the image
	LaneReplace Lane = "replace" // likewise, but those that have changed what cannot be put back are replaced
	LaneBoot    Lane = "boot"    // there is no image: each request starts an instance anew
)
