package api

import (
	"slices"
	"strings"
	"testing"

	"github.com/danielgtaylor/huma/v2"
)

// described returns every operation of the document by its id.
func described() (*huma.OpenAPI, map[string]*huma.Operation) {
	doc, all := Document(), map[string]*huma.Operation{}
	for _, item := range doc.Paths {
		for _, o := range operationsOf(item) {
			all[o.OperationID] = o
		}
	}
	return doc, all
}

func TestEveryOperationHasANameOfItsOwnInClients(t *testing.T) {
	_, all := described()
	taken := map[string]string{}
	for id, o := range all {
		name := o.Extensions[sdkResource].(string) + "." + o.Extensions[sdkMethod].(string)
		if other := taken[name]; other != "" {
			t.Errorf("%s and %s are both %s: give one of them a name in the table methods", id, other, name)
		}
		taken[name] = id
		if paged := o.Extensions[sdkPagination] != nil; paged != strings.HasPrefix(id, "list") {
			t.Errorf("%s: paged is %v", id, paged)
		}
	}
	for name, want := range map[string]string{
		"content.create": "createContentItem", "content.publish": "publishContentItem", "apiKeys.rotate": "rotateApiKey",
		"webhooks.rotateSecret": "rotateWebhookSecret", "webhooks.redeliver": "redeliver",
		"factories.diagnose": "diagnoseFactory", "factories.applyProposal": "applyProposal",
		"socialAccounts.connect": "connectSocialAccount", "studio.createImage": "createImage",
	} {
		if taken[name] != want {
			t.Errorf("%s is %q, want %q", name, taken[name], want)
		}
	}
	for id := range methods {
		if all[id] == nil {
			t.Errorf("the table methods has %s, which does not exist", id)
		}
	}
}

// TestEveryStateOfWorkIsKnownToClients fails for a state that a waiting client would not tell from work on its way.
func TestEveryStateOfWorkIsKnownToClients(t *testing.T) {
	doc, all := described()
	pending := []string{"queued", "generating", "publishing", "planning", "running", "pending"}
	for id, w := range endStates {
		o := all[id]
		if o == nil || o.Extensions[sdkWait] == nil {
			t.Errorf("%s does not say when the work has ended", id)
			continue
		}
		states, _ := memberOf(doc, dataOf(doc, o), "state").Extensions[ExtensibleEnum].([]any)
		known := slices.Concat(w.done, w.failed, pending)
		for _, state := range states {
			if !slices.Contains(known, state.(string)) {
				t.Errorf("%s: say in the table waits whether work has ended in the state %s", id, state)
			}
		}
		for _, state := range slices.Concat(w.done, w.failed) {
			if !slices.Contains(states, any(state)) {
				t.Errorf("%s: there is no state %s", id, state)
			}
		}
	}
}
