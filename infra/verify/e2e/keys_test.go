package e2e

import (
	"net/http"
	"strings"
	"sync"
	"testing"
)

type keyView struct {
	ID, Kind, State, Prefix, Last4, Secret, Name string
	Scopes                                       []string
	Version                                      int
	LastUsedAt                                   string `json:"last_used_at"`
	LastUsedIP                                   string `json:"last_used_ip"`
	CreatedBy                                    string `json:"created_by"`
}

// TestKeyLifeCycle makes, uses, changes, rotates and revokes a key.
func TestKeyLifeCycle(t *testing.T) {
	c := newCustomer(t)
	manage := c.live.Secret
	k := into[keyView](call(t, manage, "POST", "/v1/api-keys", object{
		"name": "CRM", "kind": "test", "scopes": []string{"account:read"},
		"ip_allow_list": []string{"127.0.0.0/8", "::1"},
	}), http.StatusCreated)
	if !strings.HasPrefix(k.Secret, "svc_test_") || k.Prefix != k.Secret[:13] ||
		k.Last4 != k.Secret[len(k.Secret)-4:] || k.CreatedBy != c.live.ID {
		t.Errorf("%+v", k)
	}
	me := into[struct {
		Mode string
		Key  keyView
	}](call(t, k.Secret, "GET", "/v1/me", nil), http.StatusOK)
	if me.Mode != "test" || me.Key.ID != k.ID {
		t.Errorf("%+v", me)
	}
	path := "/v1/api-keys/" + k.ID
	got := call(t, manage, "GET", path, nil)
	if v := into[keyView](got, http.StatusOK); v.LastUsedAt == "" || v.LastUsedIP == "" || v.Secret != "" ||
		strings.Contains(got.Raw, k.Secret) {
		t.Errorf("%s", got.Raw)
	}
	// A changed scope applies from the next call on.
	changed := call(t, manage, "PATCH", path, object{"scopes": []string{"content:read"}, "name": "CRM 2"}, "If-Match",
		got.Header.Get("ETag"))
	if v := into[keyView](changed, http.StatusOK); v.Name != "CRM 2" || changed.Header.Get("ETag") != `"2"` {
		t.Errorf("%s", changed.Raw)
	}
	if err := call(t, k.Secret, "GET", "/v1/me", nil).refused(403, "insufficient_scope"); err != nil {
		t.Error(err)
	}
	// After a rotation, both secrets work during the overlap.
	rotated := into[keyView](call(t, manage, "POST", path+"/rotate", object{"overlap_seconds": 600}),
		http.StatusCreated)
	for _, secret := range []string{k.Secret, rotated.Secret} {
		into[[]object](call(t, secret, "GET", "/v1/content-items", nil), http.StatusOK)
	}
	// Without an overlap, only the newest secret works. Without a body, there is no overlap.
	newest := into[keyView](call(t, manage, "POST", path+"/rotate", nil), http.StatusCreated)
	for _, secret := range []string{k.Secret, rotated.Secret} {
		if err := call(t, secret, "GET", "/v1/content-items", nil).refused(401, "invalid_api_key"); err != nil {
			t.Error(err)
		}
	}
	into[[]object](call(t, newest.Secret, "GET", "/v1/content-items", nil), http.StatusOK)
	if v := into[keyView](call(t, manage, "DELETE", path, nil), http.StatusOK); v.State != "revoked" {
		t.Errorf("%+v", v)
	}
	for _, secret := range []string{k.Secret, rotated.Secret, newest.Secret} {
		if err := call(t, secret, "GET", "/v1/content-items", nil).refused(401, "invalid_api_key"); err != nil {
			t.Error(err)
		}
	}
	if err := call(t, manage, "POST", path+"/rotate", object{}).refused(409, "invalid_state"); err != nil {
		t.Error(err)
	}
	// A live key sees all keys; a test key sees the keys of the sandbox.
	if all := into[[]keyView](call(t, manage, "GET", "/v1/api-keys", nil), http.StatusOK); len(all) != 3 {
		t.Errorf("a live key sees %+v", all)
	}
	for _, v := range into[[]keyView](call(t, c.test.Secret, "GET", "/v1/api-keys", nil), http.StatusOK) {
		if v.Kind != "test" {
			t.Errorf("a test key sees %+v", v)
		}
	}
}

// TestIdempotency repeats a call through the whole system.
func TestIdempotency(t *testing.T) {
	c := newCustomer(t)
	key := []string{"Idempotency-Key", "8e03978e-40d5-43e8-bc93-6894a57f9324"}
	body := object{"name": "CRM", "kind": "test", "scopes": []string{"account:read"}}
	first := call(t, c.live.Secret, "POST", "/v1/api-keys", body, key...)
	again := call(t, c.live.Secret, "POST", "/v1/api-keys", body, key...)
	if first.Status != http.StatusCreated || again.Header.Get("Idempotent-Replayed") != "true" {
		t.Fatalf("%s\n%v %s", first.Raw, again.Header, again.Raw)
	}
	// The repeat returns exactly the first response, with the secret in it. Its body has the
	// request id of the first call, its header the id of its own.
	if again.Raw != first.Raw {
		t.Errorf("the repeat answered\n%s\nthe first call\n%s", again.Raw, first.Raw)
	}
	body["name"] = "other"
	if err := call(t, c.live.Secret, "POST", "/v1/api-keys", body, key...).refused(422,
		"idempotency_key_reused"); err != nil {
		t.Error(err)
	}
	if all := into[[]keyView](call(t, c.live.Secret, "GET", "/v1/api-keys", nil), http.StatusOK); len(all) != 3 {
		t.Errorf("%d keys", len(all))
	}
}

// TestRotationsAtOnceAnswerOneSecret repeats a call while the first one runs, as a caller with a short time-out does.
func TestRotationsAtOnceAnswerOneSecret(t *testing.T) {
	c := newCustomer(t)
	path := "/v1/api-keys/" + into[keyView](call(t, c.live.Secret, "POST", "/v1/api-keys", object{"name": "CRM",
		"kind": "test", "scopes": []string{"account:read"}}), http.StatusCreated).ID + "/rotate"
	var answers [8]answer
	var all sync.WaitGroup
	for i := range answers {
		all.Go(func() { answers[i] = call(t, c.live.Secret, "POST", path, nil, "Idempotency-Key", "rotate-1") })
	}
	all.Wait()
	for i, a := range answers {
		if k := into[keyView](a, http.StatusCreated); k.Secret == "" || a.Raw != answers[0].Raw {
			t.Errorf("call %d answered\n%s\nthe first\n%s", i, a.Raw, answers[0].Raw)
		}
	}
}

// TestFactories covers the seven types, patches and pages.
func TestFactories(t *testing.T) {
	c := newCustomer(t)
	key := c.test.Secret
	settings := map[string]object{
		"blogger": {"persona": "A runner", "first_person": true}, "seller": {"currency": "EUR", "show_prices": true},
		"expert": {"field": "Tax law"}, "brand": {"brand_name": "Acme", "colors": []string{"#ff6600"}},
		"news":          {"region": "DE", "max_age_hours": 24},
		"entertainment": {"humor": "dry", "age_rating": "12"}, "musician": {"artist_name": "The Examples",
			"genres": []string{"pop"}},
	}
	type view struct {
		ID, Type, State, Tone, Language string
		Version                         int
		Settings                        object
		ContentTypes                    []string `json:"content_types"`
	}
	for name, set := range settings {
		f := into[view](call(t, key, "POST", "/v1/factories", object{"type": name, "name": "A " + name, "settings": set,
			"language": "de-de"}), http.StatusCreated)
		if f.Type != name || f.State != "active" || f.Language != "de-DE" || len(f.Settings) != len(set) {
			t.Errorf("%+v", f)
		}
	}
	// Pages of three, three and one factories, with each type once.
	seen := map[string]bool{}
	path := "/v1/factories?limit=3"
	for page := 0; path != ""; page++ {
		a := call(t, key, "GET", path, nil)
		for _, f := range into[[]view](a, http.StatusOK) {
			seen[f.Type] = true
		}
		path = ""
		if a.NextCursor != nil {
			path = "/v1/factories?limit=3&cursor=" + *a.NextCursor
		}
		if page > 3 {
			t.Fatal("the list does not end")
		}
	}
	if len(seen) != 7 {
		t.Errorf("pages gave %v", seen)
	}
	sellers := into[[]view](call(t, key, "GET", "/v1/factories?type=seller", nil), http.StatusOK)
	if len(sellers) != 1 {
		t.Fatalf("%+v", sellers)
	}
	f := "/v1/factories/" + sellers[0].ID
	patched := call(t, key, "PATCH", f, object{
		"state": "paused", "tone": "playful", "content_types": []string{"post"}, "settings": object{"show_prices": nil},
	}, "If-Match", `"1"`, "Content-Type", "application/merge-patch+json")
	if v := into[view](patched, http.StatusOK); v.State != "paused" || v.Tone != "playful" ||
		len(v.ContentTypes) != 1 || len(v.Settings) != 1 || patched.Header.Get("ETag") != `"2"` {
		t.Errorf("%s", patched.Raw)
	}
	if v := into[view](call(t, key, "PATCH", f, object{"state": "active", "content_types": nil}),
		http.StatusOK); v.State != "active" || len(v.ContentTypes) != 5 || v.Version != 3 {
		t.Errorf("%+v", v)
	}
	if err := call(t, key, "PATCH", f, object{"type": "brand"}).refused(422, "validation_failed"); err != nil {
		t.Error(err)
	}
}

// TestCatalog reads plans and models.
func TestCatalog(t *testing.T) {
	c := newCustomer(t)
	plans := into[[]struct {
		ID        string
		APIAccess bool `json:"api_access"`
	}](call(t, c.test.Secret, "GET", "/v1/catalog/plans", nil), http.StatusOK)
	if len(plans) != 4 {
		t.Errorf("%d plans", len(plans))
	}
	for _, p := range plans {
		if p.APIAccess != (p.ID == "enterprise") {
			t.Errorf("%+v", p)
		}
	}
	models := map[string]int{}
	path := "/v1/catalog/models?limit=30"
	for path != "" {
		a := call(t, c.test.Secret, "GET", path, nil)
		for _, m := range into[[]struct{ ID, Kind, Source string }](a, http.StatusOK) {
			models[m.Kind]++
			if m.ID == "" || m.Source == "" {
				t.Errorf("%+v", m)
			}
		}
		path = ""
		if a.NextCursor != nil {
			path = "/v1/catalog/models?limit=30&cursor=" + *a.NextCursor
		}
	}
	total := 0
	for _, n := range models {
		total += n
	}
	if len(models) != 6 || total < 48 {
		t.Errorf("models by kind: %v", models)
	}
}
