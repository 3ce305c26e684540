// Imports the modules of ../web that a provider uses. wasmres build replaces this module where there are some.
