// Package compress codes the content of HTTP answers: zstd and gzip.
//
// It owns the choice between codings from what a client accepts, the judgement whether a type of content is worth it,
// and encoders that are used again. They are set for speed and for little memory: an answer is compressed once, for one
// reader, while others wait for the processor.
//
// Fronts may import it. It writes no headers, knows nothing of messages, and is the door to klauspost/compress.
package compress
