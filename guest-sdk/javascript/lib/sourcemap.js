// The source map of a bundle. wasmres build replaces this module by the map of the project's own bundle: sources has the
// names of the files, and mappings has a text for each line of the bundle, divided by semicolons.
//
// A line has segments, divided by commas, of four numbers: the column in the bundle, the file, the line and the column
// in it, from 0 on. They are Base64 VLQ as in a source map, and each is relative to the one before in the same line. Of
// packages, in node_modules, only lines are known: a line without segments is the next one of the same file.
export const sources = [];
export const mappings = "";
