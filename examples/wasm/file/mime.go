package main

import (
	"bytes"
	"path"
	"strings"
)

// byExtension has the types that names promise.
var byExtension = map[string]string{
	".avif": "image/avif", ".bmp": "image/bmp", ".bz2": "application/x-bzip2", ".c": "text/x-c", ".conf": "text/plain",
	".cpp": "text/x-c++", ".css": "text/css", ".csv": "text/csv", ".flac": "audio/flac", ".gif": "image/gif",
	".go": "text/x-go", ".gz": "application/gzip", ".h": "text/x-c", ".htm": "text/html", ".html": "text/html",
	".ico": "image/vnd.microsoft.icon", ".ini": "text/plain", ".java": "text/x-java", ".jpeg": "image/jpeg",
	".jpg": "image/jpeg", ".js": "text/javascript", ".json": "application/json", ".jsonl": "application/jsonl",
	".log": "text/plain", ".md": "text/markdown", ".mjs": "text/javascript", ".mp3": "audio/mpeg", ".mp4": "video/mp4",
	".ogg": "audio/ogg", ".otf": "font/otf", ".parquet": "application/vnd.apache.parquet", ".pdf": "application/pdf",
	".png": "image/png", ".proto": "text/plain", ".py": "text/x-python", ".rb": "text/x-ruby", ".rs": "text/x-rust",
	".rst": "text/x-rst", ".sh": "text/x-shellscript", ".sql": "application/sql", ".svg": "image/svg+xml",
	".tar": "application/x-tar", ".toml": "application/toml", ".ts": "text/x-typescript", ".tsv": "text/tab-separated-values",
	".ttf": "font/ttf", ".txt": "text/plain", ".wasm": "application/wasm", ".wat": "text/plain", ".wav": "audio/wav",
	".webm": "video/webm", ".webp": "image/webp", ".woff2": "font/woff2", ".xml": "application/xml",
	".xz": "application/x-xz", ".yaml": "application/yaml", ".yml": "application/yaml", ".zip": "application/zip",
	".zst": "application/zstd",
}

// signatures are what files of a type begin with.
var signatures = []struct {
	at         int
	text, mime string
}{
	{0, "\x89PNG\r\n\x1a\n", "image/png"}, {0, "\xff\xd8\xff", "image/jpeg"}, {0, "GIF8", "image/gif"},
	{8, "WEBP", "image/webp"}, {4, "ftyp", "video/mp4"}, {0, "ID3", "audio/mpeg"}, {0, "OggS", "audio/ogg"},
	{0, "fLaC", "audio/flac"}, {0, "%PDF-", "application/pdf"}, {0, "PK\x03\x04", "application/zip"},
	{0, "\x1f\x8b", "application/gzip"}, {0, "(\xb5/\xfd", "application/zstd"}, {0, "\xfd7zXZ\x00", "application/x-xz"},
	{0, "BZh", "application/x-bzip2"}, {257, "ustar", "application/x-tar"}, {0, "\x00asm", "application/wasm"},
	{0, "\x7fELF", "application/x-elf"}, {0, "SQLite format 3\x00", "application/vnd.sqlite3"},
	{0, "<?xml", "application/xml"}, {0, "<!DOCTYPE html", "text/html"}, {0, "<!doctype html", "text/html"},
	{0, "<html", "text/html"}, {0, "#!", "text/x-shellscript"},
}

// typeOf gives the type that the name of a file promises or, without a promise, that its beginning shows; empty for
// neither.
func typeOf(name string, head []byte) string {
	if mime, ok := promised(name); ok {
		return mime
	}
	for _, s := range signatures {
		if len(head) > s.at && bytes.HasPrefix(head[s.at:], []byte(s.text)) {
			return s.mime
		}
	}
	return ""
}

func promised(name string) (mime string, ok bool) {
	mime, ok = byExtension[strings.ToLower(path.Ext(name))]
	return mime, ok
}

// isBinary reports whether files of a type are never texts.
func isBinary(mime string) bool {
	kind, name, _ := strings.Cut(mime, "/")
	switch kind {
	case "audio", "font", "video":
		return true
	case "image":
		return name != "svg+xml"
	}
	switch name {
	case "gzip", "pdf", "vnd.apache.parquet", "vnd.sqlite3", "wasm", "x-bzip2", "x-elf", "x-tar", "x-xz", "zip", "zstd":
		return true
	}
	return false
}
