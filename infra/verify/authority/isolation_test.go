package authority

import (
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/content-automation/api/infra/measure/metered"
	"github.com/content-automation/api/infra/verify/harness/storetest"
	"github.com/content-automation/api/pkg/auth"
	"github.com/content-automation/api/pkg/base/errs"
	"github.com/content-automation/api/pkg/base/id"
	"github.com/content-automation/api/pkg/httpapi"
)

// outcome is what a key that is bound to another profile gets of an operation.
type outcome string

const (
	// missing: the resource in the path, or the one in the body, is refused exactly like one that does not exist.
	missing outcome = "as if it did not exist"
	// problem: the report names it as a problem, like one that does not exist.
	problem outcome = "a problem, as if it did not exist"
	// nothing: the list is empty.
	nothing outcome = "an empty list"
	// its: it makes something of its own profile.
	its outcome = "makes its own"
	// common: what is the same for all keys of the account, or of all accounts.
	common outcome = "the same for all keys"
	// refused: it concerns the account as a whole.
	refused outcome = "403 `profile_not_allowed`"
	// people: no key may call it.
	people outcome = "403 `person_required`"
)

// outcomes has an entry for each operation whose outcome does not follow from what it declares, and for those where a
// mistake in the declaration would open the account to a key of one profile.
var outcomes = map[string]outcome{
	"getMe": common, "createEstimate": common, "estimateGeneration": common, "listPlans": common, "listModels": common,
	"listVoices": common, "listAvatars": common, "listPlatforms": common,

	"getServiceLevels": refused, "getUsage": refused, "listAuditEntries": refused, "resetSandbox": refused,
	"listApiKeys": refused, "createApiKey": refused, "getApiKey": refused, "updateApiKey": refused,
	"revokeApiKey": refused, "rotateApiKey": refused,
	"createProfile": refused, "updateProfile": refused, "deleteProfile": refused,
	"createExport": refused, "getExport": refused, "createImport": refused, "getImport": refused,
	"listExports": refused, "listImports": refused, "listQuotes": nothing, "advanceSandbox": refused,

	"listPeople": people, "invitePerson": people, "updatePerson": people, "removePerson": people,

	"listBalanceEntries": nothing, "listEvents": nothing, "listFactories": nothing, "listContentItems": nothing,
	"listGenerations": nothing, "listProducts": nothing, "listPromotions": nothing, "listSocialAccounts": nothing,
	"listApplications": nothing, "listTemplates": nothing,
	"listWebhooks": nothing, "listMedia": nothing, "listDrafts": nothing, "listAutomations": nothing,
	"listIntegrations": nothing, "listAllPublications": nothing, "listReviewLinks": nothing, "listComments": nothing,
	"listExperiments": nothing,

	"createFactory": its, "createMedia": its, "createWebhook": its, "connectSocialAccount": its,
	"createApplication": its, "createTemplate": its, "createVideo": its,
	"createImage": its, "createMusic": its, "createVoice": its, "createAvatar": its, "connectIntegration": its,

	"createContentItem": missing, "createContentItems": missing, "createProduct": missing, "createPromotion": missing,
	"createChat": missing, "createAutomation": missing, "createReviewLink": missing, "listSlots": missing,
	"createQuote": missing, "verifyProvenance": missing, "bulkPublishing": missing,
	"validatePublishing": problem, "getCreatorInfo": missing, "listLookups": missing, "getBestTimes": missing,
	"listAccountMetrics": missing, "createExperiment": missing, "importPosts": missing,
	// The list has the other profile alone.
	"listProfiles": "its own profile",
}

// expected returns the outcome of an operation. Without an entry it follows from the declaration. It is empty
// if nothing follows.
func expected(operation string, route httpapi.Route) outcome {
	o, ok := outcomes[operation]
	switch {
	case ok:
		return o
	case slices.Contains(route.Errors, errs.ProfileNotAllowed):
		return refused
	case strings.Contains(route.Path, "{"):
		return missing
	case strings.HasPrefix(operation, "list"):
		return nothing
	}
	return ""
}

var (
	anID    = regexp.MustCompile(`\b[a-z]{3}_[0-7][0-9a-hjkmnp-tv-z]{25}\b`)
	request = regexp.MustCompile(`"request_id":"[^"]*"`)
)

// tenants is a service with an account whose data belong to one profile, and keys that are bound to it and to another.
type tenants struct {
	*metered.World
	t            *testing.T
	first, other string // secrets
	profile      string // of the other key
}

func newTenants(t *testing.T) *tenants {
	t.Helper()
	m, err := metered.NewWith(t.Context(), metered.Settings{Account: "Agency", Agent: "isolation/1.0", Listed: 2,
		Clock: time.Date(2026, 11, 2, 9, 0, 1, 0, time.UTC), Tick: time.Millisecond, Profiled: true})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := m.Close(t.Context()); err != nil && t.Context().Err() == nil {
			t.Error(err)
		}
	})
	w := &tenants{World: m, t: t}
	made := w.must(metered.Request{Operation: "createProfile", Body: metered.Object{"name": "The other"}})
	if w.profile, err = made.ID(); err != nil {
		t.Fatal(err)
	}
	w.first, w.other = w.key(m.Profile), w.key(w.profile)
	return w
}

func (w *tenants) must(r metered.Request) metered.Answer {
	w.t.Helper()
	a, err := w.Call(w.t.Context(), r)
	if err != nil {
		w.t.Fatal(err)
	}
	return a
}

// key makes a key that is bound to profiles, and returns its secret.
func (w *tenants) key(profiles ...string) string {
	w.t.Helper()
	var made struct{ Secret string }
	a := w.must(metered.Request{Operation: "createApiKey", Body: metered.Object{"name": "bound", "kind": "test",
		"scopes": auth.AllScopes(), "profile_ids": profiles}})
	if err := json.Unmarshal(a.Data, &made); err != nil {
		w.t.Fatal(err)
	}
	return made.Secret
}

// send makes a call with a key.
func (w *tenants) send(r metered.Request, key string) metered.Response {
	w.t.Helper()
	r.Key = key
	out, err := w.Send(w.t.Context(), r)
	if err != nil {
		w.t.Fatal(err)
	}
	return out
}

// data returns what is stored of the profile of the account's data, and the ids of its items.
func (w *tenants) data() (all map[string]string, ids map[string]bool) {
	w.t.Helper()
	all, ids = map[string]string{}, map[string]bool{}
	for _, row := range storetest.Rows(w.t, w.State) {
		if row["f_profile"] != w.Profile {
			continue
		}
		b, err := json.Marshal(row)
		if err != nil {
			w.t.Fatal(err)
		}
		all[row["pk"]+" "+row["sk"]] = string(b)
		for _, key := range []string{row["pk"], row["sk"]} {
			for _, found := range anID.FindAllString(key, -1) {
				ids[found] = !strings.HasPrefix(found, id.Account)
			}
		}
	}
	return all, ids
}

// unknown replaces the ids of a request by ids of the same kinds that do not exist.
func (w *tenants) unknown(r metered.Request) (out metered.Request, ids map[string]string) {
	w.t.Helper()
	ids = map[string]string{}
	other := func(text string) string {
		return anID.ReplaceAllStringFunc(text, func(was string) string {
			if ids[was] == "" {
				ids[was] = id.New(was[:3], w.Now())
			}
			return ids[was]
		})
	}
	out = r
	out.ID, out.Part, out.Query = other(r.ID), other(r.Part), maps.Clone(r.Query)
	for name, value := range r.Query {
		out.Query[name] = other(value)
	}
	if r.Body != nil {
		b, err := json.Marshal(r.Body)
		if err != nil {
			w.t.Fatal(err)
		}
		out.Body, out.Raw = nil, other(string(b))
	}
	return out, ids
}

// alike reports whether two answers are the same but for the ids of the requests and of what they name.
func alike(a, b metered.Response, ids map[string]string) bool {
	plain := func(text string) string { return request.ReplaceAllString(text, "") }
	first := plain(a.Body)
	for was, now := range ids {
		first = strings.ReplaceAll(first, was, now)
	}
	return a.Status == b.Status && first == plain(b.Body)
}

// TestNoOperationReachesAnotherProfile makes every operation of the document with a key of another profile than that of
// the account's data, and with one of the same profile.
func TestNoOperationReachesAnotherProfile(t *testing.T) {
	w := newTenants(t)
	table := map[string]string{}
	all := slices.Sorted(maps.Keys(w.Routes))
	slices.SortStableFunc(all, func(a, b string) int { // lists come before what the key makes
		return cmp.Compare(strings.Index(a, "list"), strings.Index(b, "list")) * -1
	})
	for _, operation := range all {
		route := w.Routes[operation]
		want := expected(operation, route)
		if want == "" {
			t.Errorf("%s has no entry: decide what a key of another profile gets of it", operation)
			continue
		}
		r, err := w.Prepare(t.Context(), operation)
		if err != nil {
			t.Errorf("%s: %v", operation, err)
			continue
		}
		if r.Live { // for which the sandbox has nothing
			r.Live = false
		}
		before, ids := w.data()
		sent, _ := json.Marshal(r)
		got := w.send(r, w.other)
		if after, _ := w.data(); !maps.Equal(before, after) {
			for key, was := range after {
				if before[key] != was {
					t.Errorf("%s changes %s of another profile:\n%s\n%s", operation, key, before[key], was)
				}
			}
		}
		for _, shown := range anID.FindAllString(got.Body, -1) {
			if ids[shown] && !strings.Contains(string(sent), shown) {
				t.Errorf("%s shows %s of another profile: %s", operation, shown, got.Body)
			}
		}
		w.check(operation, want, r, got)
		same := w.send(r, w.first)
		switch {
		case want == refused || want == people:
			if same.Status != 403 {
				t.Errorf("%s of the own profile: %d %s", operation, same.Status, same.Body)
			}
		case same.Status != route.Status:
			t.Errorf("%s of the own profile: %d %s", operation, same.Status, same.Body)
		}
		if whole := w.send(r, ""); route.Method == http.MethodGet && whole.Status != route.Status {
			t.Errorf("%s with a key of the whole account: %d %s", operation, whole.Status, whole.Body)
		}
		if operation == "previewTemplate" { // nobody makes the picture: it would take the room of later work
			w.send(metered.Request{Operation: "deleteTemplate", ID: r.ID}, w.first)
		}
		own := "permitted"
		if want == refused || want == people {
			own = string(want)
		}
		table[operation] = fmt.Sprintf("| `%s` | %s %s | %s | %s |", operation, route.Method, route.Path, own, want)
	}
	document(t, table)
}

// check fails the test unless the answer to a key of another profile is as it should be.
func (w *tenants) check(operation string, want outcome, r metered.Request, got metered.Response) {
	w.t.Helper()
	route, ok := w.Routes[operation], false
	switch want {
	case missing, problem:
		nowhere, ids := w.unknown(r)
		none := w.send(nowhere, w.other)
		refusal := got.Status >= 400 && got.Status < 500
		if want == problem {
			refusal = got.Status == 200 && strings.Contains(got.Body, `"ok":false`)
		}
		ok = refusal && alike(got, none, ids)
		if !ok {
			w.t.Errorf("%s: of what does not exist: %d %s", operation, none.Status, none.Body)
		}
	case nothing:
		ok = got.Status == 200 && strings.Contains(got.Body, `"data":[]`)
	case refused:
		ok = got.Status == 403 && strings.Contains(got.Body, `"profile_not_allowed"`)
	case people:
		ok = got.Status == 403 && strings.Contains(got.Body, `"person_required"`)
	case its:
		ok = got.Status == route.Status && strings.Contains(got.Body, `"profile_id":"`+w.profile+`"`)
	case "its own profile":
		ok = got.Status == 200 && strings.Contains(got.Body, w.profile) && !strings.Contains(got.Body, w.Profile)
	default:
		ok = got.Status == route.Status
	}
	if !ok {
		w.t.Errorf("%s: want %s, got %d %s", operation, want, got.Status, got.Body)
	}
}

// belonging are the kinds of records of an owner that need not belong to a profile: they are the caller's or the
// account's, and no operation shows them to a key of another profile.
var belonging = []string{"answer", "claim", "attempts", "secret", "task", "session"}

// TestEverythingOfAFactoryBelongsToItsProfile: the account's own key has made all data in factories, social accounts,
// media and webhooks of the profile. Everything that followed from it belongs to the profile.
func TestEverythingOfAFactoryBelongsToItsProfile(t *testing.T) {
	w := newTenants(t)
	for _, operation := range slices.Sorted(maps.Keys(w.Routes)) {
		if operation == "resetSandbox" || expected(operation, w.Routes[operation]) == people {
			continue
		}
		if _, err := w.Prepare(t.Context(), operation); err != nil {
			t.Errorf("%s: %v", operation, err)
		}
	}
	profiles := map[string]bool{w.Profile: true}
	_, of := w.data()
	for _, row := range storetest.Rows(t, w.State) {
		if row["mode"] != "test" || row["f_profile"] != "" || slices.Contains(belonging, row["kind"]) {
			continue
		}
		for _, named := range anID.FindAllString(row["pk"]+" "+row["sk"]+" "+row["doc"], -1) {
			if of[named] && !profiles[named] && !strings.HasPrefix(named, id.APIKey) {
				t.Errorf("the %s %s %s names %s, which belongs to a profile, and belongs to none: %s", row["kind"],
					row["pk"], row["sk"], named, row["doc"])
				break
			}
		}
	}
}

// A key that is bound to several profiles has to name the profile of what it makes, and sees the data of all of them.
func TestAKeyOfSeveralProfilesNamesOne(t *testing.T) {
	w := newTenants(t)
	both := w.key(w.Profile, w.profile)
	for _, operation := range slices.Sorted(maps.Keys(outcomes)) {
		if outcomes[operation] != its {
			continue
		}
		r, err := w.Prepare(t.Context(), operation)
		if err != nil {
			t.Fatal(err)
		}
		if got := w.send(r, both); got.Status != 422 || !strings.Contains(got.Body, `"param":"/profile_id"`) ||
			!strings.Contains(got.Body, w.profile) {
			t.Errorf("%s without a profile: %d %s", operation, got.Status, got.Body)
		}
		body := maps.Clone(r.Body.(metered.Object))
		body["profile_id"] = id.New(id.Profile, w.Now())
		r.Body = body
		if got := w.send(r, both); got.Status != 404 || !strings.Contains(got.Body, `"param":"/profile_id"`) {
			t.Errorf("%s with a foreign profile: %d %s", operation, got.Status, got.Body)
		}
		body["profile_id"] = w.profile
		if got := w.send(r, both); got.Status != w.Routes[operation].Status {
			t.Errorf("%s with a profile: %d %s", operation, got.Status, got.Body)
		}
	}
	all := w.send(metered.Request{Operation: "listFactories"}, both)
	for _, profile := range []string{w.Profile, w.profile} {
		if !strings.Contains(all.Body, `"profile_id":"`+profile+`"`) {
			t.Errorf("the list has no factory of %s: %s", profile, all.Body)
		}
	}
	one := w.send(metered.Request{Operation: "listFactories", Query: map[string]string{"profile_id": w.profile}}, both)
	if one.Status != 200 || strings.Contains(one.Body, w.Profile) || !strings.Contains(one.Body, w.profile) {
		t.Errorf("the factories of one profile: %d %s", one.Status, one.Body)
	}
}

// document compares testdata/isolation.md with the table, or writes it.
func document(t *testing.T, table map[string]string) {
	t.Helper()
	if t.Failed() {
		return
	}
	const name, begin, end = "testdata/isolation.md", "<!-- begin -->\n", "<!-- end -->\n"
	old, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	before, rest, ok := strings.Cut(string(old), begin)
	_, after, closed := strings.Cut(rest, end)
	if !ok || !closed {
		t.Fatalf("%s has no table", name)
	}
	rows := slices.Collect(maps.Values(table))
	slices.SortFunc(rows, func(a, b string) int { return cmp.Compare(a, b) })
	text := before + begin + "| Operation | Call | Key of the profile | Key of another profile |\n|---|---|---|---|\n" +
		strings.Join(rows, "\n") + "\n" + end + after
	switch {
	case text == string(old):
	case *update:
		if err := os.WriteFile(name, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	default:
		t.Errorf("%s is out of date: run go test ./infra/verify/authority -update", name)
	}
}
