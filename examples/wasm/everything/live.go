package main

import (
	"strconv"
	"time"

	wasmres "github.com/wasmres/wasmres/guest-sdk/go"
)

const watched = "test://watched-resource"

func registerLive() {
	wasmres.Resource(watched, text("Read test://action/touch and whoever follows this hears of it.\n")).
		Name("watched-resource").Describe("A resource to subscribe to.").MIME("text/plain")

	wasmres.Resource("test://clock", clock).
		Name("clock").Describe("The time in UTC; changes every second.").MIME("text/plain").
		Watch(time.Second, second)

	wasmres.Template("test://action/{what}", act).
		Name("action").Describe("Reading it does something.").MIME("text/plain").
		CompleteFrom("what", "touch", "list-changed")

	wasmres.Resource("test://progress", progress).
		Name("progress").Describe("Reports on itself three times.").MIME("text/plain")

	wasmres.Template("test://log/{level}", log).
		Name("log").Describe("Writes a line to the log.").MIME("text/plain").
		CompleteFrom("level", "debug", "info", "warn", "error")
}

func clock(r *wasmres.Request) (wasmres.Content, error) {
	etag, err := second(r)
	return wasmres.Text(r.Now().UTC().Format(time.RFC3339)).ETag(etag), err
}

// second is the version of the clock.
func second(r *wasmres.Request) (string, error) { return strconv.FormatInt(r.Now().Unix(), 10), nil }

func act(r *wasmres.Request) (string, error) {
	switch r.Var("what") {
	case "touch":
		return "Told those who follow " + watched + ".\n", wasmres.NotifyUpdated(watched)
	case "list-changed":
		return "Told everybody that the list has changed.\n", wasmres.NotifyListChanged()
	}
	return "", wasmres.NotFound("there is no action " + r.Var("what"))
}

func progress(r *wasmres.Request) (string, error) {
	for i, step := range []string{"one", "two", "three"} {
		r.Progress(float64(i+1), 3, "step "+step)
	}
	return "Three steps done.\n", nil
}

func log(r *wasmres.Request) (string, error) {
	message := "a line of level " + r.Var("level")
	switch r.Var("level") {
	case "debug":
		r.Debug(message)
	case "info":
		r.Info(message)
	case "warn":
		r.Warn(message)
	case "error":
		r.Error(message)
	default:
		return "", wasmres.NotFound("there is no level " + r.Var("level"))
	}
	return "Logged " + message + ".\n", nil
}
