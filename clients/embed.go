// Package clients holds what callers' programs are made from: the OpenAPI
// document, as the operations registered in pkg describe themselves.
package clients

import _ "embed"

// OpenAPIJSON is the OpenAPI 3.1 document as JSON.
//
//go:embed openapi.json
var OpenAPIJSON []byte

// OpenAPIYAML is the same document as YAML.
//
//go:embed openapi.yaml
var OpenAPIYAML []byte
