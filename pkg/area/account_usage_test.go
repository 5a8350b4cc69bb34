package area_test

import (
	"net/http"
	"testing"
	"time"

	"github.com/aws/aws-lambda-go/events"

	"github.com/content-automation/api/infra/verify/harness/apitest"
	"github.com/content-automation/api/pkg/area/account"
	"github.com/content-automation/api/pkg/area/audit"
	"github.com/content-automation/api/pkg/auth"
	"github.com/content-automation/api/pkg/base/errs"
	"github.com/content-automation/api/pkg/base/tenant"
	"github.com/content-automation/api/pkg/httpapi"
	"github.com/content-automation/api/pkg/record/resource"
)

// The usage is one sum of the account: of all keys, also of those that are revoked and have no item any more.
func TestUsageIsOneSumOfTheAccount(t *testing.T) {
	w := levelNewWorld(t)
	c := apitest.New(t, w.DB, &apitest.Log{}, w.Now, account.NewService(w.DB, w.Now))
	o := tenant.Of(c.Principal.Account, c.Principal.Mode)
	entry := func(by auth.Actor, o tenant.Owner, status int) events.DynamoDBEventRecord {
		t.Helper()
		return w.entry(o, by, "getMe", status)
	}
	first := w.Now().UTC().Format(time.DateOnly)
	active, revoked := c.Principal.Actor, auth.Key("key_revoked")
	records := []events.DynamoDBEventRecord{entry(active, o, 200), entry(active, o, 429), entry(revoked, o, 200),
		entry(revoked, o, 200), entry(revoked, o, 503), entry(auth.Actor{Kind: auth.Person, ID: "usr_1"}, o, 200),
		entry(revoked, c.Stranger().Principal.Owner, 200), entry(auth.Actor{Kind: auth.ReviewLink, ID: "rvl_1"}, o, 303)}
	for range 2 { // the stream delivers them twice
		if again := w.handle(records...); again != "" {
			t.Fatalf("it wants %s again", again)
		}
	}
	w.Clock.Add(24 * time.Hour)
	w.handle(entry(active, o, 200))
	for _, kind := range []string{"post", "post", "video"} {
		w.handle(w.entryOf(o, active, "createContentItem", 202, kind))
	}
	var got account.Usage
	c.Call(http.MethodGet, "/v1/usage", nil).Into(t, http.StatusOK, &got)
	if got.UsageCalls != (account.UsageCalls{Requests: 9, Refused: 1, Failed: 1}) || len(got.Days) != 30 ||
		got.Days[28].Date != first || got.Days[28].Requests != 5 || got.Days[29].Requests != 4 ||
		got.People.Requests != 1 {
		t.Errorf("%+v", got)
	}
	if k := got.Kinds; len(k) != 2 || k[0].Kind != "post" || k[0].Requests != 2 || k[0].ByDay[29] != 2 ||
		k[1].Kind != "video" || k[1].Requests != 1 || len(k[1].ByDay) != 30 {
		t.Errorf("%+v", k)
	}
	// The days before it would have no year.
	c.Call(http.MethodGet, "/v1/usage?to=0001-01-01", nil).Refused(t, 422, errs.ValidationFailed, "to")
	c.Call(http.MethodGet, "/v1/usage?to=0000-01-01", nil).Refused(t, 422, errs.ValidationFailed, "to")
	if len(got.Keys) != 2 || got.Keys[0].KeyID != "key_revoked" && got.Keys[1].KeyID != "key_revoked" {
		t.Fatalf("%+v", got.Keys)
	}
	for _, k := range got.Keys {
		if want := map[bool]int64{true: 3, false: 6}[k.KeyID == "key_revoked"]; k.Requests != want ||
			len(k.ByDay) != 30 || k.KeyID == "key_revoked" && k.Name != nil {
			t.Errorf("%+v", k)
		}
	}
	c.Call(http.MethodGet, "/v1/usage?from="+first+"&to="+first, nil).Into(t, http.StatusOK, &got)
	if got.Requests != 5 || len(got.Days) != 1 {
		t.Errorf("one day: %+v", got)
	}
	for query, param := range map[string]string{"from=yesterday": "from", "to=2026-13-01": "to",
		"from=2026-01-01&to=2026-12-01": "from", "from=2026-06-02&to=2026-06-01": "from"} {
		c.Call(http.MethodGet, "/v1/usage?"+query, nil).Refused(t, http.StatusUnprocessableEntity, errs.ValidationFailed,
			param)
	}
}

// entry writes the audit entry of a call by an actor, and returns its record.
func (w *levelWorld) entry(o tenant.Owner, by auth.Actor, operation string, status int) events.DynamoDBEventRecord {
	w.T.Helper()
	return w.entryOf(o, by, operation, status, "")
}

// entryOf is entry for a call that concerned content of a kind.
func (w *levelWorld) entryOf(o tenant.Owner, by auth.Actor, operation string, status int,
	kind string) events.DynamoDBEventRecord {
	w.T.Helper()
	c := httpapi.Call{RequestID: "r", Principal: &auth.Principal{Owner: o, Actor: by}, OperationID: operation,
		Method: "GET", Path: "/v1/me", Status: status, At: w.Now(), Latency: time.Millisecond,
		Concern: resource.Concern{Kind: kind}}
	if err := audit.New(w.audit, w.Now).Record(w.T.Context(), c); err != nil {
		w.T.Fatal(err)
	}
	return w.next()
}
