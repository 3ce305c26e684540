// Package view has the commands list, templates, read and complete, which send a provider one request and print the result.
package view
