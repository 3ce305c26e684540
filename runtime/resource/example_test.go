package resource_test

import (
	"context"
	"log"
	"os"

	"github.com/wasmres/wasmres/abi"
	"github.com/wasmres/wasmres/runtime"
	"github.com/wasmres/wasmres/runtime/resource"
)

// A logged source logs what is read of the one that it wraps. The other methods are those of the embedded Source.
type logged struct {
	resource.Source
	log *log.Logger
}

func (l logged) Read(ctx context.Context, req *resource.Request, sink abi.Sink) (*abi.Reply, error) {
	reply, err := l.Source.Read(ctx, req, sink)
	l.log.Println("read", req.URI, abi.CodeOf(err))
	return reply, err
}

// AfterResponse, ListVersion and Identity forward optional interfaces, which embedding does not.
func (l logged) AfterResponse() {
	if a, ok := l.Source.(resource.AfterResponder); ok {
		a.AfterResponse()
	}
}

func (l logged) ListVersion() uint64 { return l.Source.(resource.Versioned).ListVersion() }

func (l logged) Identity() resource.Identity { return l.Source.(resource.Identified).Identity() }

func ExampleSource() {
	ctx := context.Background()
	host, err := runtime.NewHost(runtime.HostConfig{Isolation: runtime.IsolateNone})
	if err != nil {
		log.Fatal(err)
	}
	defer host.Close()
	p, err := host.Open(ctx, "../testdata/greeting.wasm", nil)
	if err != nil {
		log.Fatal(err)
	}
	defer p.Close()
	source := logged{p.Source(), log.New(os.Stdout, "", 0)}
	server, err := runtime.NewServer(source, nil)
	if err != nil {
		log.Fatal(err)
	}
	for _, uri := range []string{"greeting://World", "no URI", "nothing://here"} { // the server refuses what is no URI
		_, _ = server.Call(ctx, "resources/read", map[string]string{"uri": uri})
	}
	// Output:
	// read greeting://World ok
	// read nothing://here not_found
}
