// Package runtime runs MCP resource providers, which are untrusted WebAssembly modules, and serves them to MCP clients.
//
// A program that embeds wasmres calls [Main] first in main, and then:
//
//	p, err := runtime.Open(ctx, "greeting.wasm", nil)
//	if err != nil {
//		return err
//	}
//	defer p.Close()
//	contents, err := p.Read(ctx, "greeting://World")
//
// # Providers
//
// [Open] and [Load] load a provider. [Options] say what the provider may do: a nil Options grants nothing and takes the
// default limits. A [Provider] reads, lists, completes and subscribes for the program, and serves MCP clients by
// [Provider.Handler].
//
// A provider can touch nothing of the host but the capabilities of its Options. The packages below runtime/capability open
// them: fscap files, httpcap servers, kvcap stored values, sqlcap databases. This grants a folder, waits for the first
// change of a file in it, and then serves the provider until ctx ends:
//
//	notes, err := fscap.Open([]fscap.Grant{{Host: "/home/me/notes", Guest: "/notes"}}, nil)
//	if err != nil {
//		return err
//	}
//	p, err := runtime.Open(ctx, "notes.wasm", &runtime.Options{Capabilities: []capability.Capability{notes}})
//	if err != nil {
//		return err
//	}
//	defer p.Close() // closes notes, too
//	for change, err := range p.Subscribe(ctx, "note://plan.txt") {
//		fmt.Println(change.URI, err)
//		break
//	}
//	http.Handle("/mcp", p.Handler())
//	return http.ListenAndServe("127.0.0.1:8080", nil)
//
// # Isolation
//
// By default, on Linux, the guests of each provider run in a worker: a child process that can open no file and no
// connection. The child is the running program, started again, for which [Main] exists. A [Host] holds what several
// providers share, and says where guests run.
//
// # Serving
//
// [NewServer] speaks MCP for one provider, for several that [Combine] serves as one, for a provider that is replaced
// while it is served ([Replaceable]), or for any other [resource.Source]. In a program that has an http.Server, mount
// [Provider.Handler] or a [Server]. [Server.Serve] is for a program whose port is MCP's alone: it answers small requests
// before net/http parses them. [Server.ServeStdio] is for a program that an MCP client starts.
//
// # Errors
//
// Errors of a provider have a code, by [abi.CodeOf], and a message for clients. The error chain of a crash holds an
// [*abi.Crash], which is for the log of the operator alone.
package runtime
