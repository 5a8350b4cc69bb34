package area_test

import (
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/content-automation/api/pkg/area/crm"
	"github.com/content-automation/api/pkg/base/errs"
)

// profile creates a profile, and a factory of the type seller in it.
func (w *crmWorld) profile() (profileID, shop string) {
	w.T.Helper()
	var p, f struct{ ID string }
	w.Call(http.MethodPost, "/v1/profiles", object{"name": "Harbour Coffee"}).Into(w.T, http.StatusCreated, &p)
	w.Clock.Add(time.Minute)
	w.Call(http.MethodPost, "/v1/factories", object{"type": "seller", "name": "Shop", "profile_id": p.ID,
		"settings": object{"currency": "EUR"}}).Into(w.T, http.StatusCreated, &f)
	return p.ID, f.ID
}

// The products and deals of one client do not reach the factory of another one.
func TestAFactoryOfAnotherProfileIsRefused(t *testing.T) {
	w := newCrmWorld(t)
	first, shop := w.profile()
	_, other := w.profile()
	connect := func(profileID, factoryID string) object {
		body := object{"kind": "bitrix24", "webhook_url": address, "factory_id": factoryID}
		if profileID != "" {
			body["profile_id"] = profileID
		}
		return body
	}
	for name, body := range map[string]object{
		"another profile's": connect(first, other), "the account's": connect(first, w.shop),
		"a profile's, for the account": connect("", shop),
	} {
		if got := w.Call(http.MethodPost, "/v1/integrations", body); got.Status != http.StatusUnprocessableEntity ||
			got.Error.Param != "/factory_id" {
			t.Errorf("%s: %d %s", name, got.Status, got.Raw)
		}
	}
	var c connected
	w.Call(http.MethodPost, "/v1/integrations", connect(first, shop)).Into(t, http.StatusCreated, &c)
	w.Call(http.MethodPatch, "/v1/integrations/"+c.ID, object{"factory_id": other}).
		Refused(t, http.StatusUnprocessableEntity, errs.ValidationFailed, "/factory_id")
	if got := w.get(c.ID); got.ProfileID == nil || string(*got.ProfileID) != first || *got.FactoryID != shop {
		t.Errorf("%+v", got)
	}
}

// A profile stays as long as an integration of it is connected.
func TestAProfileWithAnIntegrationIsNotDeleted(t *testing.T) {
	w := newCrmWorld(t)
	profileID, shop := w.profile()
	w.Call(http.MethodDelete, "/v1/factories/"+shop, nil).Into(t, http.StatusOK, new(object))
	var c connected
	w.Call(http.MethodPost, "/v1/integrations", object{"kind": "bitrix24", "webhook_url": address,
		"profile_id": profileID}).Into(t, http.StatusCreated, &c)
	w.Clock.Add(time.Minute)
	remove := func() int {
		got := w.Call(http.MethodDelete, "/v1/profiles/"+profileID, nil)
		if got.Status != http.StatusOK && !strings.Contains(got.Error.Message, "The profile still has integrations") {
			t.Errorf("the refusal does not name the integration: %s", got.Raw)
		}
		return got.Status
	}
	if got := remove(); got != http.StatusConflict {
		t.Fatalf("with an integration: %d", got)
	}
	if got := w.get(c.ID); got.State != crm.Connected {
		t.Errorf("the refusal has changed it: %s", got.State)
	}
	w.Call(http.MethodDelete, "/v1/integrations/"+c.ID, nil).Into(t, http.StatusOK, new(object))
	w.Clock.Add(time.Minute)
	if got := remove(); got != http.StatusOK {
		t.Errorf("without one: %d", got)
	}
}
