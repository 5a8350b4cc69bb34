package area_test

import (
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/content-automation/api/infra/verify/harness/apitest"
	"github.com/content-automation/api/infra/verify/harness/servicetest"
	"github.com/content-automation/api/pkg/area/content/item"
	"github.com/content-automation/api/pkg/area/crm"
	"github.com/content-automation/api/pkg/area/media"
	"github.com/content-automation/api/pkg/area/profile"
	"github.com/content-automation/api/pkg/area/social"
	"github.com/content-automation/api/pkg/area/studio"
	"github.com/content-automation/api/pkg/area/webhook"
	"github.com/content-automation/api/pkg/auth"
	"github.com/content-automation/api/pkg/auth/credential"
	"github.com/content-automation/api/pkg/base/errs"
	"github.com/content-automation/api/pkg/base/tenant"
	keyrecord "github.com/content-automation/api/pkg/record/apikey"
	factoryrecord "github.com/content-automation/api/pkg/record/factory"
	"github.com/content-automation/api/pkg/record/ledger"
	record "github.com/content-automation/api/pkg/record/profile"
	"github.com/content-automation/api/pkg/store"
)

// profileWorld has the operations of profiles.
type profileWorld struct {
	*servicetest.World
}

func newProfileWorld(t *testing.T) *profileWorld {
	t.Helper()
	w := &profileWorld{servicetest.New(t)}
	w.Serve(profile.NewService(w.DB, apitest.Signer(t, w.Now), w.Now))
	return w
}

func (w *profileWorld) profile() record.Profile {
	w.T.Helper()
	var p record.Profile
	w.Call(http.MethodPost, "/v1/profiles", object{"name": "Harbour Coffee"}).Into(w.T, http.StatusCreated, &p)
	w.Clock.Add(time.Minute)
	return p
}

// put stores an item of a kind with a key or a place in the list of its kind.
func (w *profileWorld) put(it store.Item) store.Item {
	w.T.Helper()
	w.Commit(func(tx *store.Tx) error {
		tx.Create(it, nil)
		return nil
	})
	it.Version = 1
	return it
}

// Each kind of thing keeps its profile from being deleted, and the error names the kind. What has ended does not.
func TestAProfileInUseIsNotDeleted(t *testing.T) {
	for name, c := range map[string]struct {
		kind   string
		state  string // in which it keeps the profile
		ended  string // in which it does not, or empty
		change func(it *store.Item, p tenant.Profile)
		doc    func(state string, p tenant.Profile) any
	}{
		"factory":        {kind: factoryrecord.Kind},
		"content item":   {kind: item.ItemKind},
		"generation":     {kind: studio.ItemKind},
		"media":          {kind: media.ItemKind},
		"social account": {kind: social.Kind, state: "connected", ended: string(social.Disconnected)},
		"integration":    {kind: crm.Kind, state: "connected", ended: string(crm.Disconnected)},
		"webhook": {kind: webhook.Kind, change: func(it *store.Item, _ tenant.Profile) {
			it.Key, it.ListKey = store.Key{PK: webhook.List(it.Owner), SK: it.PK}, store.Key{}
		}},
		"API key": {kind: "api_key", state: keyrecord.Active, ended: keyrecord.Revoked,
			change: func(it *store.Item, _ tenant.Profile) {
				it.Key, it.ListKey, it.Mode, it.Profile = credential.KeyOf(it.Account, it.PK), store.Key{}, "", ""
			}, doc: func(state string, p tenant.Profile) any {
				return keyrecord.Record{Key: keyrecord.Key{State: state, ProfileIDs: []tenant.Profile{p}}}
			}},
	} {
		t.Run(name, func(t *testing.T) {
			w := newProfileWorld(t)
			p, other := w.profile(), w.profile()
			o := w.Principal.Owner.Of(tenant.Profile(p.ID))
			var doc any = object{}
			if c.doc != nil {
				doc = c.doc(c.state, o.Profile)
			}
			it, err := store.NewItem(c.kind, o, "thing_1", doc)
			if err != nil {
				t.Fatal(err)
			}
			it.Filters = map[string]string{"state": c.state}
			if c.change != nil {
				c.change(&it, o.Profile)
			}
			it = w.put(it)
			got := w.Call(http.MethodDelete, "/v1/profiles/"+p.ID, nil)
			got.Refused(t, http.StatusConflict, errs.InvalidState, "")
			if got.Error == nil || !strings.HasPrefix(got.Error.Message, "The profile still has "+plural(name)+". ") {
				t.Errorf("%s", got.Raw)
			}
			w.Call(http.MethodGet, "/v1/profiles/"+p.ID, nil).Into(t, http.StatusOK, new(object))
			w.Call(http.MethodDelete, "/v1/profiles/"+other.ID, nil).Into(t, http.StatusOK, new(object))
			tx := &store.Tx{}
			if c.ended == "" {
				tx.Delete(it)
			} else {
				it.Filters["state"] = c.ended
				if c.doc != nil {
					if err := it.Encode(c.doc(c.ended, o.Profile)); err != nil {
						t.Fatal(err)
					}
				}
				tx.Replace(it)
			}
			if err := w.DB.Commit(t.Context(), tx); err != nil {
				t.Fatal(err)
			}
			w.Call(http.MethodDelete, "/v1/profiles/"+p.ID, nil).Into(t, http.StatusOK, new(object))
			w.Call(http.MethodGet, "/v1/profiles/"+p.ID, nil).Refused(t, http.StatusNotFound, errs.NotFound, "")
		})
	}
}

// article returns the article of a noun at the beginning of a sentence.
// plural returns the plural of a noun of the test.
func plural(noun string) string {
	switch {
	case noun == "media":
		return noun
	case strings.HasSuffix(noun, "y") && noun != "API key":
		return strings.TrimSuffix(noun, "y") + "ies"
	}
	return noun + "s"
}

func TestBadProfilesAreRefused(t *testing.T) {
	w := newProfileWorld(t)
	p := w.profile()
	for param, body := range map[string]object{
		"/name":                {"name": ""},
		"/name ":               {"name": "  "},
		"/logo":                {"name": "Acme", "logo": "med_01h455vb4pex5vsknk084sn02q"},
		"/spend_limit_credits": {"name": "Acme", "spend_limit_credits": -1},
	} {
		for method, at := range map[string]string{http.MethodPost: "/v1/profiles", http.MethodPatch: "/v1/profiles/" + p.ID} {
			w.Call(method, at, body).Unusable(t, strings.TrimSpace(param))
		}
	}
	w.Call(http.MethodDelete, "/v1/profiles/"+p.ID, nil, "If-Match", `"9"`).
		Refused(t, http.StatusPreconditionFailed, errs.VersionMismatch, "If-Match")
	w.Stranger().Call(http.MethodDelete, "/v1/profiles/"+p.ID, nil).Refused(t, http.StatusNotFound, errs.NotFound, "")
}

// A list may not yet show what was made a moment ago.
func TestAProfileThatWasJustUsedIsNotDeleted(t *testing.T) {
	w := newProfileWorld(t)
	p := w.profile()
	tx := &store.Tx{}
	ledger.Use(tx, w.Now(), w.Principal.Owner.Of(tenant.Profile(p.ID)), nil)
	if err := w.DB.Commit(t.Context(), tx); err != nil {
		t.Fatal(err)
	}
	got := w.Call(http.MethodDelete, "/v1/profiles/"+p.ID, nil)
	got.Refused(t, http.StatusConflict, errs.InvalidState, "")
	if after := got.Header.Get("Retry-After"); after != "5" {
		t.Errorf("it asks to wait for %q seconds", after)
	}
	w.Clock.Add(5 * time.Second)
	w.Call(http.MethodDelete, "/v1/profiles/"+p.ID, nil).Into(t, http.StatusOK, new(object))
}

// Who leaves spending to people does not lift what bounds it, and may lower it.
func TestB11LimitsOfAProfileAreLiftedByPeople(t *testing.T) {
	w := newProfileWorld(t)
	at := "/v1/profiles/" + w.profile().ID
	w.Call(http.MethodPatch, at, object{"spend_limit_credits": 100, "quote_required_above_credits": 10}).
		Into(t, http.StatusOK, new(object))
	agent := w.As(func(p *auth.Principal) {
		p.Mandate = &auth.Mandate{ID: "key_x:1", NeedsPerson: []auth.Act{auth.ActSpend}}
	})
	for _, body := range []object{{"spend_limit_credits": 101}, {"spend_limit_credits": nil},
		{"quote_required_above_credits": 11}, {"quote_required_above_credits": nil}} {
		agent.Call(http.MethodPatch, at, body).Refused(t, http.StatusForbidden, errs.PersonRequired, "")
	}
	for _, body := range []object{{"spend_limit_credits": 99}, {"quote_required_above_credits": 9}, {"name": "Acme"}} {
		agent.Call(http.MethodPatch, at, body).Into(t, http.StatusOK, new(object))
	}
}

// A list is searched by the words of names, in any case and without accents, and by the beginning of an id.
func TestAListIsSearchedByWords(t *testing.T) {
	w := newProfileWorld(t)
	var last record.Profile
	for _, name := range []string{"Café Linde", "Harbour Coffee", "Linden & Söhne", "مطعم الياسمين"} {
		w.Call(http.MethodPost, "/v1/profiles", object{"name": name}).Into(t, http.StatusCreated, &last)
		w.Clock.Add(time.Minute)
	}
	for query, want := range map[string]string{"q=CAFE": "Café Linde", "q=linde": "Linden & Söhne,Café Linde",
		"q=linde+cafe": "Café Linde", "q=sohne": "Linden & Söhne", "q=" + last.ID[:20]: last.Name, "q=tea": "",
		"q=linde&name=café+linde": "Café Linde", "q=linde&limit=1": "Linden & Söhne"} {
		var all []record.Profile
		w.Call(http.MethodGet, "/v1/profiles?"+query, nil).Into(t, http.StatusOK, &all)
		var names []string
		for _, p := range all {
			names = append(names, p.Name)
		}
		if got := strings.Join(names, ","); got != want && !strings.HasPrefix(query, "q="+last.ID[:10]) {
			t.Errorf("%s: %q, want %q", query, got, want)
		} else if !strings.Contains(got, want) {
			t.Errorf("%s: %q lacks %q", query, got, want)
		}
	}
	w.Call(http.MethodGet, "/v1/profiles?q="+strings.Repeat("x", 101), nil).RefusedAs(t, errs.ValidationFailed, "q")
}
