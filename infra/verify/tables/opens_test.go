package main

import (
	"bytes"
	"flag"
	"os"
	"regexp"
	"strings"
	"testing"

	"github.com/content-automation/api/pkg/service/api"
)

var update = flag.Bool("update", false, "write the summary into docs/security.md")

const page = "../../../docs/security.md"

var between = regexp.MustCompile(`(?s)<!-- begin opens -->\n.*<!-- end opens -->\n`)

// The summary of the page is that of the declarations.
func TestThePageHasWhatOperationsOpen(t *testing.T) {
	text, err := os.ReadFile(page)
	if err != nil {
		t.Fatal(err)
	}
	want := between.ReplaceAllLiteral(text, []byte("<!-- begin opens -->\n"+string(summary())+"<!-- end opens -->\n"))
	if *update {
		if err := os.WriteFile(page, want, 0o600); err != nil {
			t.Fatal(err)
		}
		return
	}
	if !bytes.Equal(text, want) || !between.Match(text) {
		t.Errorf("docs/security.md has another summary: look at the change, and write it by `go test %s -update`",
			"./infra/verify/tables")
	}
}

func TestTheTableHasAllOperations(t *testing.T) {
	rows := string(operations())
	for _, r := range api.Routes() {
		if strings.Count(rows, "| `"+r.OperationID+"` |") != 1 {
			t.Errorf("the table has no row for %s", r.OperationID)
		}
	}
	for _, row := range []string{
		"| `updateWebhook` | PATCH /v1/webhooks/{webhook_id} | webhooks:manage | address | invite | – |",
		"| `resetSandbox` | POST /v1/sandbox/reset | account:manage | deletion | delete | – |",
		"| `createContentItem` | POST /v1/content-items | content:write | spending, publishing | spend (where it spends), " +
			"publish (where it publishes) | – |",
		"| `getFactory` | GET /v1/factories/{factory_id} | factories:read | nothing | – | reads |",
	} {
		if !strings.Contains(rows, row+"\n") {
			t.Errorf("the table lacks %s", row)
		}
	}
}
