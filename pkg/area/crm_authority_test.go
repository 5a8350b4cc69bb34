package area_test

import (
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/content-automation/api/infra/verify/harness/storetest"
	"github.com/content-automation/api/pkg/area/content/item"
	"github.com/content-automation/api/pkg/area/crm"
	"github.com/content-automation/api/pkg/auth"
	"github.com/content-automation/api/pkg/base/errs"
	keyrecord "github.com/content-automation/api/pkg/record/apikey"
	"github.com/content-automation/api/pkg/record/authority"
	"github.com/content-automation/api/pkg/store"
)

// The link of a pending connection is for who asked: whoever opens it connects a CRM of their own.
func TestTheLinkOfAConnectionIsShownOnce(t *testing.T) {
	w := newCrmWorld(t)
	var c connected
	w.Call(http.MethodPost, "/v1/integrations", object{"kind": "amocrm"}, "Idempotency-Key", "once").
		Into(t, http.StatusCreated, &c)
	if c.AuthorizationURL == nil {
		t.Fatal("there is no link")
	}
	_, state, _ := strings.Cut(*c.AuthorizationURL, "?link=")
	it, err := w.DB.Get(t.Context(), store.IDKey(c.ID))
	if err != nil {
		t.Fatal(err)
	}
	for name, text := range map[string]string{
		"the record":     string(it.Doc),
		"getIntegration": w.Call(http.MethodGet, "/v1/integrations/"+c.ID, nil).Raw,
		"a weaker key":   w.Only(auth.AccountRead).Call(http.MethodGet, "/v1/integrations/"+c.ID, nil).Raw,
		"the list":       w.Only(auth.AccountRead).Call(http.MethodGet, "/v1/integrations", nil).Raw,
		"a change":       w.Call(http.MethodPatch, "/v1/integrations/"+c.ID, object{"metadata": object{"a": "b"}}).Raw,
	} {
		if strings.Contains(text, state) || !strings.Contains(text, c.ID) {
			t.Errorf("%s shows the link: %s", name, text)
		}
	}
	w.Clock.Add(11 * time.Minute)
	var late connected
	w.Call(http.MethodPost, "/v1/integrations", object{"kind": "amocrm"}, "Idempotency-Key", "once").
		Into(t, http.StatusCreated, &late)
	if late.ID != c.ID || late.AuthorizationURL != nil {
		t.Errorf("a late repeat: %+v", late)
	}
}

// A link ends with the key that asked for it.
func TestALinkEndsWithItsKey(t *testing.T) {
	w := newCrmWorld(t)
	var c connected
	w.Call(http.MethodPost, "/v1/integrations", object{"kind": "amocrm"}).Into(t, http.StatusCreated, &c)
	callback, cookies := w.allow("amocrm", *c.AuthorizationURL)
	w.ChangeKey(func(k *keyrecord.Record) { k.State = keyrecord.Revoked })
	for _, at := range []string{*c.AuthorizationURL, callback} {
		if resp := w.visit(http.MethodGet, at, cookies...); resp.StatusCode != http.StatusForbidden {
			t.Errorf("%s: %s", at, resp.Status)
		}
	}
	w.ChangeKey(func(k *keyrecord.Record) { k.State = keyrecord.Active })
	if got := w.get(c.ID); got.State != crm.Pending {
		t.Errorf("%+v", got)
	}
}

// An integration makes nothing for a key that was revoked: it has to be connected again.
func TestAnIntegrationEndsWithItsAuthority(t *testing.T) {
	for _, name := range names() {
		w := newCrmWorld(t)
		f := w.fakes[name]
		c := w.connect(name, "factory_id", w.shop, "mapping", mapping())
		w.run(time.Minute, nil)
		if c.CreatedBy != w.Principal.Actor.ID {
			t.Errorf("%s: it is of %s", name, c.CreatedBy)
		}
		w.ChangeKey(func(k *keyrecord.Record) { k.State = keyrecord.Revoked })
		f.PutDeal(deal("2", "142"))
		w.hook(name, c, hintOf("2"))
		w.run(time.Minute, nil)
		if items := w.finish(item.Generated); len(items) != 0 {
			t.Errorf("%s: it made %+v", name, items)
		}
		got := w.get(c.ID)
		if got.State != crm.NeedsReconnect || got.LastFailure == nil ||
			got.LastFailure.Code != authority.Code || !strings.Contains(got.LastFailure.Message, "was revoked") {
			t.Errorf("%s: %s, %+v", name, got.State, got.LastFailure)
		}
		if !strings.Contains(storetest.Snapshot(t, w.DB), "integration.needs_reconnect") {
			t.Errorf("%s: there is no event", name)
		}
	}
}

// Who connects an integration again takes the mapping over, and needs what it needs.
func TestReconnectingNeedsTheScopesOfTheMapping(t *testing.T) {
	w := newCrmWorld(t)
	c := w.connect("hubspot", "factory_id", w.shop, "mapping", mapping())
	weak := w.Only(auth.AccountManage, auth.AccountRead)
	weak.Call(http.MethodPost, "/v1/integrations", object{"integration_id": c.ID}).
		Refused(t, http.StatusForbidden, errs.InsufficientScope, "/mapping/products/import")
	if got := w.get(c.ID); got.CreatedBy != w.Principal.Actor.ID {
		t.Errorf("it is of %s", got.CreatedBy)
	}
	strong := w.Without(auth.ContentPublish)
	strong.Principal.Actor = auth.Key("key_01h455vb4pex5vsknk084sn02q")
	strong.Call(http.MethodPost, "/v1/integrations", object{"integration_id": c.ID}).Into(t, http.StatusCreated, &c)
	if got := w.get(c.ID); got.CreatedBy != strong.Principal.Actor.ID {
		t.Errorf("connected again it is of %s", got.CreatedBy)
	}
}

// A mapping is for the account of the CRM that it was made for.
func TestAnotherAccountBeginsWithoutAMapping(t *testing.T) {
	w := newCrmWorld(t)
	c := w.connect("amocrm", "factory_id", w.shop, "mapping", mapping())
	w.Call(http.MethodDelete, "/v1/integrations/"+c.ID, nil).Into(t, http.StatusOK, new(object))
	w.run(time.Minute, nil)
	same := w.connect("amocrm", "integration_id", c.ID)
	if len(same.Mapping.Stages) == 0 {
		t.Errorf("the same account has the mapping %+v", same.Mapping)
	}
	w.Call(http.MethodDelete, "/v1/integrations/"+c.ID, nil).Into(t, http.StatusOK, new(object))
	w.run(time.Minute, nil)
	w.fakes["amocrm"].BecomeAccount("271828")
	other := w.connect("amocrm", "integration_id", c.ID)
	if len(other.Mapping.Stages) != 0 || other.Mapping.Products.Import {
		t.Errorf("another account has the mapping %+v", other.Mapping)
	}
}
