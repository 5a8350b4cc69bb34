// Package clients holds what callers' programs are made from: the OpenAPI
// document, as the operations registered in pkg describe themselves.
package clients

import (
	"bytes"
	"compress/gzip"
	_ "embed"
	"io"
	"sync"
)

// OpenAPIJSON is the OpenAPI 3.1 document as JSON. The file openapi.yaml beside it has the same document, to be read;
// it is not embedded, because programs that embed both would be larger by its size.
//
//go:embed openapi.json
var OpenAPIJSON []byte

//go:embed openapi.json.gz
var compressed []byte

// OpenAPI returns the same document as OpenAPIJSON. A program that uses it alone is smaller by 1 MB, and starts later
// by the time of decompressing it.
var OpenAPI = sync.OnceValue(func() []byte {
	r, err := gzip.NewReader(bytes.NewReader(compressed))
	if err != nil {
		panic("clients: the embedded document is damaged: " + err.Error())
	}
	document, err := io.ReadAll(r)
	if err != nil {
		panic("clients: the embedded document is damaged: " + err.Error())
	}
	return document
})
