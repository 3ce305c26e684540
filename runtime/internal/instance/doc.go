// Package instance has one live sandbox: it starts a guest, makes the image of it, runs its exports within limits, and
// puts the instance back to the image.
package instance
