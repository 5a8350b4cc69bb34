package clients_test

import (
	"bytes"
	"testing"

	"github.com/content-automation/api/clients"
)

func TestBothDocumentsAreTheSame(t *testing.T) {
	if !bytes.Equal(clients.OpenAPI(), clients.OpenAPIJSON) {
		t.Error("openapi.json.gz has another document than openapi.json: run `make generate`")
	}
}
