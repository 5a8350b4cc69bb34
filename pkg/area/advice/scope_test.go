package advice_test

import (
	"encoding/json"
	"net/http"
	"testing"

	"github.com/content-automation/api/infra/verify/harness/storetest"
	"github.com/content-automation/api/pkg/area/advice"
	"github.com/content-automation/api/pkg/auth"
	"github.com/content-automation/api/pkg/base/errs"
	"github.com/content-automation/api/pkg/store"
)

// Whatever a proposal came to contain, it turns automatic publishing on for no key that
// may not publish.
func TestAProposalTurnsAutoPublishOnWithTheScopeToPublishOnly(t *testing.T) {
	w := newWorld(t)
	_, all := w.offered(`{"tone":"dry"}`)
	it, err := w.DB.Get(t.Context(), store.IDKey(all[0].ID))
	if err != nil {
		t.Fatal(err)
	}
	var stored map[string]any
	if err := it.Decode(&stored); err != nil {
		t.Fatal(err)
	}
	stored["patch"] = object{"auto_publish": true}
	if err := it.Encode(stored); err != nil {
		t.Fatal(err)
	}
	tx := &store.Tx{}
	tx.Replace(it)
	if err := w.DB.Commit(t.Context(), tx); err != nil {
		t.Fatal(err)
	}
	before := storetest.Snapshot(t, w.DB)
	w.Without(auth.ContentPublish).Call(http.MethodPost, applyPath(all[0]), nil).Refused(t, 403, errs.InsufficientScope,
		"/patch/auto_publish")
	if storetest.Snapshot(t, w.DB) != before || w.factoryOf(all[0]).AutoPublish {
		t.Error("something was changed")
	}
	w.Call(http.MethodPost, applyPath(all[0]), nil).Into(t, http.StatusOK, new(advice.Proposal))
	if f := w.factoryOf(all[0]); !f.AutoPublish {
		b, _ := json.Marshal(f)
		t.Errorf("%s", b)
	}
}
