// Package images has the commands that publish providers in registries, sign them, and manage those in the user's store.
package images
