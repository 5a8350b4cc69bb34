// Package clients holds what callers' programs are made from: the OpenAPI
// document, as the operations registered in pkg describe themselves.
package clients

import _ "embed"

// OpenAPIJSON is the OpenAPI 3.1 document as JSON. The file openapi.yaml beside it has the same document, to be read;
// it is not embedded, because programs that embed both would be larger by its size.
//
//go:embed openapi.json
var OpenAPIJSON []byte
