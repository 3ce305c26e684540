package quota

// OpenBookWriting is OpenBook with what replaces the file, as atomicfile.Write does.
var OpenBookWriting = openBook
