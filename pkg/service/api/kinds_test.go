package api

import (
	"slices"
	"testing"

	"github.com/content-automation/api/pkg/area/erasure"
	"github.com/content-automation/api/pkg/area/transfer"
)

// notExported are the declared kinds that an export of an account leaves out, with the reason.
var notExported = map[string]string{
	"api_key":     "it has nothing but rights and the hash of a secret",
	"person":      "an import must not open an account to people",
	"integration": "it is of no use without its credentials, which are not exported",
	"application": "it is of no use without its secret, which is not exported",
	"review_link": "it acts by its address, which only the answer of its creation has",
	"event":       "it tells of a change, and what has changed is exported",
	"delivery":    "it tells of an event",
	"post_import": "it tells of a reading, which the new account makes again",
	"export":      "it is an export itself",
	"import":      "it tells of an import, whose resources are exported",
	"quote":       "it binds this account's prices for an hour",
}

// notDeleted are the declared kinds that the reset of a sandbox, and the first part of an erasure, leave: the last part
// of an erasure removes them with all that is left.
var notDeleted = map[string]string{
	"api_key":     "the sandbox goes on with its keys",
	"person":      "people belong to the account, not to a mode",
	"integration": "its erasure disconnects it first",
	"profile":     "it owns what is deleted",
	"webhook":     "the sandbox goes on with its webhooks",
	"delivery":    "it expires with its event",
	"quote":       "it expires",
}

// Each kind of resource that an area declares is exported, or there is a reason; it is known to the erasure and to the
// check of a restored table; and it is deleted with what an owner has made, or there is a reason.
func TestDeclaredKindsAreExportedAndErased(t *testing.T) {
	var exported, declared []string
	for _, r := range transfer.Resources() {
		exported = append(exported, r.Kind)
	}
	for _, r := range routes() {
		if r.Kind == "" || slices.Contains(declared, r.Kind) {
			continue
		}
		declared = append(declared, r.Kind)
		known, ok := erasure.ByName[r.Kind]
		if !ok {
			t.Errorf("erasure.Kinds lacks %q of %s", r.Kind, r.OperationID)
		}
		inOrExcused(t, r.Kind, "exported", "transfer.kinds", slices.Contains(exported, r.Kind), notExported)
		inOrExcused(t, r.Kind, "deleted", "the prefixes of erasure.Kinds", known.Prefix != "", notDeleted)
	}
	for _, reasons := range []map[string]string{notExported, notDeleted} {
		for kind := range reasons {
			if !slices.Contains(declared, kind) {
				t.Errorf("there is a reason for %q, which no area declares", kind)
			}
		}
	}
}

// inOrExcused checks that a kind is in a list, or that there is a reason why not, but not both.
func inOrExcused(t *testing.T, kind, what, list string, in bool, reasons map[string]string) {
	t.Helper()
	if reason := reasons[kind]; in == (reason != "") {
		t.Errorf("%q must be in %s or have a reason why it is not %s, and not both: in the list %v, reason %q", kind, list,
			what, in, reason)
	}
}
