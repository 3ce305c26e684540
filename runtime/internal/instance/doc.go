// Package instance has one live sandbox: it starts a guest, makes its image, runs its exports within limits, and resets
// the instance to the image.
package instance
