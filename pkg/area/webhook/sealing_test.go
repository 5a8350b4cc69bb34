package webhook_test

import (
	"context"
	"crypto/rand"
	"encoding/base64"
	"errors"
	"net/http"
	"strings"
	"testing"

	"github.com/content-automation/api/infra/verify/harness/apitest"
	"github.com/content-automation/api/infra/verify/harness/sealtest"
	"github.com/content-automation/api/infra/verify/harness/storetest"
	"github.com/content-automation/api/infra/verify/harness/webhooktest"
	"github.com/content-automation/api/pkg/area/webhook"
	"github.com/content-automation/api/pkg/cloud/seal"
)

// outage is a key service that fails while it is down.
type outage struct {
	sealtest.Keys
	down bool
}

func (o *outage) Generate(ctx context.Context, account string) (key, wrapped []byte, err error) {
	if o.down {
		return nil, nil, errors.New("connection reset")
	}
	return o.Keys.Generate(ctx, account)
}

func TestWithoutTheKeyServiceNoWebhookIsMade(t *testing.T) {
	c := apitest.NewClock()
	db := storetest.Open(t, c.Now)
	keys := &outage{"key", true}
	caller := apitest.New(t, db, &apitest.Log{}, c.Now,
		webhook.NewService(db, webhook.NewClient(true), webhooktest.DeliverRole, seal.NewEnvelope(keys, c.Now), c.Now,
			rand.Reader))
	a := caller.Call(http.MethodPost, "/v1/webhooks", map[string]any{"url": hookURL, "event_types": []string{"*"}})
	if a.Status != http.StatusServiceUnavailable || strings.Contains(string(a.Raw), "connection") {
		t.Errorf("got %d %s", a.Status, a.Raw)
	}
	var all []webhook.Webhook
	if caller.Call(http.MethodGet, "/v1/webhooks", nil).Into(t, http.StatusOK, &all); len(all) != 0 {
		t.Errorf("there are %d webhooks", len(all))
	}
	keys.down = false
	w := create(t, caller, hookURL, "*")
	it, err := db.Get(t.Context(), webhook.Ref{Owner: caller.Principal.Owner, ID: w.ID}.Key())
	if err != nil {
		t.Fatal(err)
	}
	var r webhook.WebhookRecord
	if err := it.Decode(&r); err != nil {
		t.Fatal(err)
	}
	key, err := base64.StdEncoding.DecodeString(strings.TrimPrefix(w.Secret, "whsec_"))
	if err != nil {
		t.Fatal(err)
	}
	if sealed := string(r.Secrets[0].SealedSecret); !strings.Contains(sealed,
		"the key of "+string(caller.Principal.Account)) || strings.Contains(sealed, string(key)) {
		t.Errorf("stored %q", sealed)
	}
}
