package main

import (
	"io"
	"path"
	"strings"
)

// byExtension gives the type a name promises; empty for none.
func byExtension(name string) string {
	switch strings.ToUpper(path.Base(name)) {
	case "README", "LICENSE", "LICENCE", "COPYING", "NOTICE", "AUTHORS", "CHANGELOG", "CONTRIBUTING", "MAKEFILE", "DOCKERFILE":
		return "text/plain"
	}
	switch strings.ToLower(path.Ext(name)) {
	case ".gz":
		return "application/gzip"
	case ".json":
		return "application/json"
	case ".jsonl":
		return "application/jsonl"
	case ".pdf":
		return "application/pdf"
	case ".sql":
		return "application/sql"
	case ".toml":
		return "application/toml"
	case ".wasm":
		return "application/wasm"
	case ".tar":
		return "application/x-tar"
	case ".xml":
		return "application/xml"
	case ".yaml", ".yml":
		return "application/yaml"
	case ".zip":
		return "application/zip"
	case ".mp3":
		return "audio/mpeg"
	case ".wav":
		return "audio/wav"
	case ".woff2":
		return "font/woff2"
	case ".bmp":
		return "image/bmp"
	case ".gif":
		return "image/gif"
	case ".jpeg", ".jpg":
		return "image/jpeg"
	case ".png":
		return "image/png"
	case ".svg":
		return "image/svg+xml"
	case ".ico":
		return "image/vnd.microsoft.icon"
	case ".webp":
		return "image/webp"
	case ".css":
		return "text/css"
	case ".csv":
		return "text/csv"
	case ".html":
		return "text/html"
	case ".js", ".mjs":
		return "text/javascript"
	case ".md":
		return "text/markdown"
	case ".conf", ".ini", ".lock", ".log", ".mod", ".proto", ".sum", ".txt", ".wat":
		return "text/plain"
	case ".tsv":
		return "text/tab-separated-values"
	case ".c", ".h":
		return "text/x-c"
	case ".cpp":
		return "text/x-c++"
	case ".go":
		return "text/x-go"
	case ".java":
		return "text/x-java"
	case ".py":
		return "text/x-python"
	case ".rst":
		return "text/x-rst"
	case ".rb":
		return "text/x-ruby"
	case ".rs":
		return "text/x-rust"
	case ".sh":
		return "text/x-shellscript"
	case ".ts":
		return "text/x-typescript"
	case ".mp4":
		return "video/mp4"
	}
	return ""
}

// sniffed is how many bytes of a file whose name promises nothing are looked at for its type.
const sniffed = 512

// typeOf gives the type of a file that is not read: by its name, or else by its first bytes; empty if it cannot be read.
func typeOf(name string) string {
	if mime := byExtension(name); mime != "" {
		return mime
	}
	f, err := project.Open(name)
	if err != nil {
		return ""
	}
	defer f.Close()
	head, err := io.ReadAll(io.LimitReader(f, sniffed))
	if err != nil {
		return ""
	}
	if len(head) == sniffed {
		head = head[:len(head)-unfinished(head)]
	}
	return mimeOf(name, textual(head))
}

// mimeOf gives the type of a file whose content has been seen. A text type is no answer for what is not text.
func mimeOf(name string, isText bool) string {
	mime := byExtension(name)
	switch {
	case isText && mime == "":
		return "text/plain"
	case !isText && (mime == "" || strings.HasPrefix(mime, "text/")):
		return "application/octet-stream"
	}
	return mime
}
