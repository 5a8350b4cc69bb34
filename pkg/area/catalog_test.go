package area_test

import (
	"context"
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"net/url"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"

	"github.com/content-automation/api/infra/verify/harness/storetest"
	"github.com/content-automation/api/pkg/adapter/provider"
	"github.com/content-automation/api/pkg/area"
	listing "github.com/content-automation/api/pkg/area/catalog"
	"github.com/content-automation/api/pkg/auth"
	"github.com/content-automation/api/pkg/base/errs"
	"github.com/content-automation/api/pkg/base/tenant"
	"github.com/content-automation/api/pkg/generate/catalog"
	"github.com/content-automation/api/pkg/httpapi"
	"github.com/content-automation/api/pkg/store"
)

// calls is an audit log that counts.
type calls []httpapi.Call

func (c *calls) Record(_ context.Context, call httpapi.Call) error {
	*c = append(*c, call)
	return nil
}

type answer struct {
	status     int
	Data       []map[string]any `json:"data"`
	Error      *struct{ Code, Param, Message string }
	NextCursor *string `json:"next_cursor"`
}

// get calls the area as the gateway does, with a test key.
func get(t *testing.T, path string, scopes ...auth.Scope) answer {
	t.Helper()
	return getAs(t, tenant.Test, "", path, scopes...)
}

// getAs calls the area of a stack with the given providers, with a key of the mode.
func getAs(t *testing.T, mode tenant.Mode, providers, path string, scopes ...auth.Scope) answer {
	t.Helper()
	return getFrom(t, storetest.Open(t, time.Now), mode, providers, path, scopes...)
}

// getFrom is getAs with a table.
func getFrom(t *testing.T, db *store.DB, mode tenant.Mode, providers, path string, scopes ...auth.Scope) answer {
	t.Helper()
	principal := auth.Principal{Owner: tenant.Of("acc_1", mode), Actor: auth.Key("key_1"), Scopes: scopes}
	authorizer, err := principal.Encode()
	if err != nil {
		t.Fatal(err)
	}
	var log calls
	r := httpapi.NewRouter(nil, &log, time.Now)
	listing.Mount(r, area.Env{AWS: aws.Config{Region: "us-west-2"}, DB: db, Providers: providers})
	req := httptest.NewRequest(http.MethodGet, path, nil)
	w := httptest.NewRecorder()
	r.ServeHTTP(w, req.WithContext(httpapi.WithGateway(t.Context(),
		httpapi.Gateway{RequestID: "req-1", Authorizer: authorizer})))
	a := answer{status: w.Code}
	if err := json.Unmarshal(w.Body.Bytes(), &a); err != nil {
		t.Fatalf("%s: %v in %s", path, err, w.Body)
	}
	if len(log) != 1 || log[0].Status != w.Code {
		t.Errorf("%s: the audit log has %+v", path, log)
	}
	return a
}

func ids(a answer) []string {
	var all []string
	for _, m := range a.Data {
		all = append(all, m["id"].(string))
	}
	return all
}

func TestListPlans(t *testing.T) {
	a := get(t, "/v1/catalog/plans", auth.AccountRead)
	if a.status != http.StatusOK || !slices.Equal(ids(a), []string{"starter", "growth", "business", "enterprise"}) ||
		a.NextCursor != nil {
		t.Fatalf("got %+v", a)
	}
	if a.Data[0]["rate_limits"] != nil || a.Data[3]["api_access"] != true {
		t.Errorf("got %+v", a.Data)
	}
}

func TestListModelsGivesEveryModelOnceOverItsPages(t *testing.T) {
	var all []string
	cursor := ""
	for page := 0; page == 0 || cursor != ""; page++ {
		a := get(t, "/v1/catalog/models?limit=7"+cursor, auth.AccountRead)
		if a.status != http.StatusOK || len(a.Data) == 0 || len(a.Data) > 7 || page > 100 {
			t.Fatalf("page %d: %+v", page, a)
		}
		all = append(all, ids(a)...)
		if cursor = ""; a.NextCursor != nil {
			cursor = "&cursor=" + url.QueryEscape(*a.NextCursor)
		}
	}
	var want []string
	for _, m := range catalog.Models(catalog.Filter{}) {
		want = append(want, m.ID)
	}
	if !slices.Equal(all, want) {
		t.Errorf("got %v, want %v", all, want)
	}
}

func TestListModelsFilters(t *testing.T) {
	for query, keep := range map[string]func(catalog.Model) bool{
		"kind=video":             func(m catalog.Model) bool { return m.Kind == provider.KindVideo },
		"provider=polly":         func(m catalog.Model) bool { return m.Provider == "polly" },
		"kind=text&provider=fal": func(catalog.Model) bool { return false },
		"kind=image&provider=fal": func(m catalog.Model) bool {
			return m.Kind == provider.KindImage &&
				m.Provider == "fal"
		},
	} {
		var want []string
		for _, m := range catalog.Models(catalog.Filter{}) {
			if keep(m) {
				want = append(want, m.ID)
			}
		}
		if a := get(t, "/v1/catalog/models?limit=100&"+query, auth.AccountRead); a.status != http.StatusOK ||
			a.Data == nil || !slices.Equal(ids(a), want) {
			t.Errorf("%s: %d, %v; want %v", query, a.status, ids(a), want)
		}
	}
}

func TestModelsShowPricesAndHideProvidersIds(t *testing.T) {
	for _, m := range get(t, "/v1/catalog/models?limit=100", auth.AccountRead).Data {
		for _, member := range []string{"id", "name", "provider", "kind", "capabilities", "price", "state", "successor", "retires_at",
			"fine_tuned_from", "factory_id", "training", "default", "regions", "source"} {
			if _, ok := m[member]; !ok {
				t.Errorf("%v lacks %s", m["id"], member)
			}
		}
		if len(m) != 15 {
			t.Errorf("%v has %d members: %v", m["id"], len(m), m)
		}
		if m["id"] == "nano-banana-2" && (m["state"] != "retired" || m["successor"] != "nano-banana-2.1" ||
			m["price"] == nil) {
			t.Errorf("the retired model is %v", m)
		}
	}
}

func TestBadInput(t *testing.T) {
	first := get(t, "/v1/catalog/models?limit=1&kind=image", auth.AccountRead)
	for _, c := range []struct {
		path   string
		scope  auth.Scope
		status int
		code   errs.Code
		param  string
	}{
		{"/v1/catalog/models", auth.FactoriesRead, 403, errs.InsufficientScope, ""},
		{"/v1/catalog/models?kind=sculpture", auth.AccountRead, 422, errs.ValidationFailed, "kind"},
		{"/v1/catalog/models?provider=sandbox", auth.AccountRead, 422, errs.ValidationFailed, "provider"},
		{"/v1/catalog/models?limit=101", auth.AccountRead, 422, errs.ValidationFailed, "limit"},
		{"/v1/catalog/models?cursor=nonsense", auth.AccountRead, 400, errs.InvalidCursor, "cursor"},
		{"/v1/catalog/plans?cursor=nonsense", auth.AccountRead, 400, errs.InvalidCursor, "cursor"},
		{"/v1/catalog/models?kind=video&cursor=" + *first.NextCursor, auth.AccountRead, 400,
			errs.InvalidCursor, "cursor"},
		{"/v1/catalog/plans?cursor=" + *first.NextCursor, auth.AccountRead, 400, errs.InvalidCursor, "cursor"},
	} {
		a := get(t, c.path, c.scope)
		if a.status != c.status || a.Error == nil || a.Error.Code != string(c.code) || a.Error.Param != c.param {
			t.Errorf("%s: %d %+v, want %d %s of %q", c.path, a.status, a.Error, c.status, c.code, c.param)
		}
	}
}

func TestTheProvidersOfTheFilterAreThoseOfTheTable(t *testing.T) {
	names := catalog.Providers()
	slices.Sort(names)
	for _, name := range names {
		if a := get(t, "/v1/catalog/models?provider="+name, auth.AccountRead); a.status != http.StatusOK ||
			len(a.Data) == 0 {
			t.Errorf("%s: %+v", name, a)
		}
	}
	if want := []string{"bedrock", "elevenlabs", "fal", "heygen", "polly", "replicate"}; !slices.Equal(names, want) {
		t.Errorf("providers %v, want %v", names, want)
	}
}

func TestLiveKeysSeeWhatIsUnavailable(t *testing.T) {
	for mode, want := range map[tenant.Mode]catalog.State{tenant.Live: catalog.Unavailable,
		tenant.Test: catalog.Available} {
		a := getAs(t, mode, "bedrock", "/v1/catalog/models?limit=100", auth.AccountRead)
		if a.status != http.StatusOK || len(a.Data) != len(catalog.Models(catalog.Filter{})) {
			t.Fatalf("%s: %d models, status %d", mode, len(a.Data), a.status)
		}
		for _, m := range a.Data {
			model, _ := catalog.Find(m["id"].(string))
			expect := model.State
			if model.Provider != "bedrock" && model.State != catalog.Retired && mode == tenant.Live {
				expect = catalog.Unavailable
			}
			if m["state"] != string(expect) {
				t.Errorf("%s: %s is %v, want %s", mode, model.ID, m["state"], expect)
			}
			if model.ID == "veo-3.1" && m["state"] != string(want) {
				t.Errorf("%s: %s is %v, want %s", mode, model.ID, m["state"], want)
			}
		}
	}
	if m, _ := catalog.Find("veo-3.1"); m.State != catalog.Available {
		t.Errorf("the table itself now has %s", m.State)
	}
}

func TestModelsShowTheDefaultOfTheCaller(t *testing.T) {
	for mode, want := range map[tenant.Mode]string{tenant.Test: "flux-pro-1.1", tenant.Live: "stable-image-core"} {
		var usual []string
		for _, m := range getAs(t, mode, "bedrock", "/v1/catalog/models?kind=image&limit=100", auth.AccountRead).Data {
			if m["default"] == true {
				usual = append(usual, m["id"].(string))
			}
			if m["id"] == "stable-image-core" && !slices.Equal(m["regions"].([]any), []any{"us-west-2"}) {
				t.Errorf("%v", m)
			}
		}
		if !slices.Equal(usual, []string{want}) {
			t.Errorf("%s: the defaults are %v, want %s", mode, usual, want)
		}
	}
}

func TestListAvatars(t *testing.T) {
	if a := get(t, "/v1/catalog/avatars?model=heygen-3", auth.AccountRead); a.status != http.StatusOK ||
		!slices.Equal(ids(a), []string{"Angela-inTshirt-20220820"}) {
		t.Errorf("%+v", a)
	}
	if a := get(t, "/v1/catalog/avatars?limit=100", auth.AccountRead); a.status != http.StatusOK ||
		len(a.Data) != len(catalog.Avatars("")) {
		t.Errorf("%d avatars, status %d", len(a.Data), a.status)
	}
	if a := get(t, "/v1/catalog/avatars?model=none", auth.AccountRead); a.status != http.StatusOK || a.Data == nil ||
		len(a.Data) != 0 {
		t.Errorf("%+v", a)
	}
}

func TestListVoices(t *testing.T) {
	for query, want := range map[string][]string{
		"model=polly-long-form":                    {"Danielle"},
		"model=polly-generative&language=de":       {"Vicki"},
		"model=polly-neural&language=EN-gb":        {"Amy"},
		"model=eleven-3&language=en-GB":            {"JBFqnCBsd6RMkjVDRZzb"},
		"language=cy":                              {"Gwyneth"},
		"model=polly-long-form&language=fr":        nil,
		"model=none":                               nil,
		"language=is&limit=1":                      {"Dora"},
		"model=polly-standard&language=pt&limit=2": {"Vitoria", "Cristiano"},
	} {
		a := get(t, "/v1/catalog/voices?"+query, auth.AccountRead)
		if a.status != http.StatusOK || !slices.Equal(ids(a), want) {
			t.Errorf("%s: %d, %v, want %v", query, a.status, ids(a), want)
		}
	}
	if a := get(t, "/v1/catalog/voices?language=english%21",
		auth.AccountRead); a.status != http.StatusUnprocessableEntity || a.Error.Param != "language" {
		t.Errorf("no language: %+v", a)
	}
}

// Each voice is of models that are in the catalog and speak its languages, and is
// listed once.
func TestVoicesFitTheirModels(t *testing.T) {
	seen := map[string]bool{}
	for _, v := range catalog.Voices("", "") {
		if key := v.Provider + " " + v.ID; seen[key] || len(v.Models) == 0 || len(v.Languages) == 0 {
			t.Errorf("%+v", v)
		} else {
			seen[key] = true
		}
		for _, id := range v.Models {
			m, ok := catalog.Find(id)
			if !ok || m.Provider != v.Provider || m.Kind != provider.KindVoice {
				t.Errorf("%s is not a voice of %s", v.ID, id)
				continue
			}
			if !slices.ContainsFunc(v.Languages, m.Speaks) {
				t.Errorf("%s does not speak %v", id, v.Languages)
			}
		}
	}
	if len(seen) < 50 {
		t.Errorf("there are %d voices", len(seen))
	}
}

// keep puts trained models into a table.
func keep(t *testing.T, db *store.DB, o tenant.Owner, models ...catalog.TunedModel) {
	t.Helper()
	tx := &store.Tx{}
	for _, m := range models {
		it, err := store.NewItem(catalog.TrainedKind, o, m.ID, m)
		if err != nil {
			t.Fatal(err)
		}
		tx.Create(it, nil)
	}
	if err := db.Commit(t.Context(), tx); err != nil {
		t.Fatal(err)
	}
}

func TestTrainedModelsAreListedForTheirAccountAndMode(t *testing.T) {
	db := storetest.Open(t, time.Now)
	mine := tenant.Of("acc_1", tenant.Live)
	keep(t, db, mine,
		catalog.TunedModel{ID: "mdl_01h455vb4pex5vsknk084sn02q", FactoryID: "fac_1", BaseModel: "nova-pro",
			Endpoint: "arn:aws:bedrock:secret"},
		catalog.TunedModel{ID: "mdl_01h455vb4pex5vsknk084sn02r", FactoryID: "fac_2", BaseModel: "nova-lite"})
	keep(t, db, tenant.Of("acc_1", tenant.Test), catalog.TunedModel{ID: "mdl_01h455vb4pex5vsknk084sn02s",
		BaseModel: "nova-lite"})
	keep(t, db, tenant.Of("acc_2", tenant.Live), catalog.TunedModel{ID: "mdl_01h455vb4pex5vsknk084sn02t",
		BaseModel: "nova-lite"})
	trained := func(providers, query string) (found []map[string]any) {
		for _, m := range getFrom(t, db, tenant.Live, providers, "/v1/catalog/models?limit=100"+query,
			auth.AccountRead).Data {
			if m["fine_tuned_from"] != nil {
				found = append(found, m)
			}
		}
		return found
	}
	all := trained("bedrock", "")
	if len(all) != 2 {
		t.Fatalf("listed are %v", all)
	}
	// The newest first, and before the catalog's own.
	newest, oldest := all[0], all[1]
	if newest["id"] != "mdl_01h455vb4pex5vsknk084sn02r" || newest["fine_tuned_from"] != "nova-lite" ||
		newest["factory_id"] != "fac_2" || newest["kind"] != "text" || newest["state"] != "available" ||
		newest["training"] != nil || newest["price"] == nil {
		t.Errorf("%v", newest)
	}
	if oldest["id"] != "mdl_01h455vb4pex5vsknk084sn02q" || oldest["fine_tuned_from"] != "nova-pro" {
		t.Errorf("%v", oldest)
	}
	for _, m := range all {
		for name, value := range m {
			if text, ok := value.(string); ok && name != "source" && strings.Contains(text, "arn:") {
				t.Errorf("%s shows %s", name, text)
			}
		}
	}
	if got := trained("fal", ""); len(got) != 2 || got[0]["state"] != "unavailable" {
		t.Errorf("without their provider: %v", got)
	}
	for query, want := range map[string]int{"&kind=text": 2, "&kind=image": 0, "&provider=fal": 0,
		"&provider=bedrock": 2} {
		if got := trained("bedrock,fal", query); len(got) != want {
			t.Errorf("%s: %d trained models, want %d", query, len(got), want)
		}
	}
	first := getFrom(t, db, tenant.Live, "bedrock", "/v1/catalog/models?limit=1", auth.AccountRead)
	second := getFrom(t, db, tenant.Live, "bedrock",
		"/v1/catalog/models?limit=1&cursor="+url.QueryEscape(*first.NextCursor), auth.AccountRead)
	if second.Data[0]["id"] != oldest["id"] {
		t.Errorf("the second page has %v", second.Data)
	}
}
