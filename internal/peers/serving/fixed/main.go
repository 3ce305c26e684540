// Fixed answers every request with the same bytes: what HTTP and a pipe cost when nothing is done.
package main

import (
	"bufio"
	"bytes"
	"flag"
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"os"
	"strconv"

	"github.com/valyala/fasthttp"
)

func main() {
	mode := flag.String("mode", "stdio", "stdio, fasthttp or nethttp")
	size := flag.Int("size", 240, "bytes of a response's body, or on stdio of a line, about")
	flag.Parse()
	log.Fatal(run(*mode, *size))
}

func run(mode string, size int) error {
	if mode == "stdio" {
		return lines(os.Stdin, os.Stdout, size)
	}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return err
	}
	fmt.Fprintln(os.Stderr, "listening at", l.Addr())
	body := append(append([]byte(`{"jsonrpc":"2.0","id":1,"result":"`), bytes.Repeat([]byte("a"), size)...), `"}`...)
	if mode == "nethttp" {
		return http.Serve(l, constant(body))
	}
	return fasthttp.Serve(l, func(c *fasthttp.RequestCtx) {
		c.SetContentType("application/json")
		c.Response.SetBodyRaw(body)
	})
}

func constant(body []byte) http.HandlerFunc {
	length, mime := []string{strconv.Itoa(len(body))}, []string{"application/json"}
	return func(w http.ResponseWriter, r *http.Request) {
		if _, err := io.Copy(io.Discard, r.Body); err != nil {
			return
		}
		w.Header()["Content-Type"], w.Header()["Content-Length"] = mime, length
		_, _ = w.Write(body)
	}
}

// lines answers each line of in with one that has its id.
func lines(in io.Reader, out io.Writer, size int) error {
	r := bufio.NewReaderSize(in, 64<<10)
	tail := append(append([]byte(`,"result":"`), bytes.Repeat([]byte("a"), size)...), '"', '}', '\n')
	line := make([]byte, 0, size+100)
	for {
		request, err := r.ReadSlice('\n')
		if err != nil {
			return err
		}
		_, rest, _ := bytes.Cut(request, []byte(`"id":`))
		id, _, _ := bytes.Cut(rest, []byte(","))
		line = append(append(append(line[:0], `{"jsonrpc":"2.0","id":`...), id...), tail...)
		if _, err := out.Write(line); err != nil {
			return err
		}
	}
}
