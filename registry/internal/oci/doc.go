// Package oci has what the packages of the registry share: references, descriptors, the manifests of providers and of
// signatures (OCI image specification 1.1), their bounds, and the interfaces of what contains them.
//
// A provider is an image manifest with the layout of the CNCF for WebAssembly: its configuration is ConfigType, and its
// only layer is the module, uncompressed. A signature is an image manifest that names the manifest of the provider as its
// subject and whose only layer is a sigstore bundle.
//
// The package is the only one that imports the modules of OCI's types.
package oci
