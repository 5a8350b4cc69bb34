package area_test

import (
	"encoding/json"
	"maps"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"

	"github.com/content-automation/api/infra/verify/harness/apitest"
	"github.com/content-automation/api/infra/verify/harness/servicetest"
	"github.com/content-automation/api/infra/verify/harness/storetest"
	"github.com/content-automation/api/pkg/adapter/platform"
	"github.com/content-automation/api/pkg/area"
	"github.com/content-automation/api/pkg/area/content"
	"github.com/content-automation/api/pkg/area/estimate"
	"github.com/content-automation/api/pkg/area/factory"
	planarea "github.com/content-automation/api/pkg/area/plan"
	"github.com/content-automation/api/pkg/area/social"
	"github.com/content-automation/api/pkg/area/studio"
	"github.com/content-automation/api/pkg/auth"
	"github.com/content-automation/api/pkg/base/errs"
	"github.com/content-automation/api/pkg/httpapi"
	factoryrecord "github.com/content-automation/api/pkg/record/factory"
	"github.com/content-automation/api/pkg/record/resource"
	"github.com/content-automation/api/pkg/service/api"
	"github.com/content-automation/api/pkg/store"
)

type object = map[string]any

// areas registers the areas with a router.
type areas struct{ area.Env }

func (a areas) Register(r *httpapi.Router) {
	for _, mount := range []area.Mount{factory.Mount, planarea.Mount, content.Mount, studio.Mount, estimate.Mount} {
		mount(r, a.Env)
	}
}

// estimateWorld is a caller with a live key, credits and a factory.
type estimateWorld struct {
	*servicetest.World
	factory string
}

func newEstimateWorld(t *testing.T) *estimateWorld {
	w := &estimateWorld{World: servicetest.New(t)}
	w.Serve(areas{area.Env{AWS: aws.Config{Region: "us-west-2"}, DB: w.DB, Media: apitest.Signer(t, w.Now), Now: w.Now,
		Providers: "bedrock,polly,fal,elevenlabs,replicate", Loopback: true}})
	w.Caller = w.Live()
	w.TopUp(100_000)
	var f struct{ ID string }
	w.Call(http.MethodPost, "/v1/factories",
		object{"type": "brand", "name": "Acme", "settings": object{"brand_name": "Acme"}}).Into(t,
		http.StatusCreated, &f)
	w.factory = f.ID
	return w
}

// Work costs exactly its estimate, and the estimate itself costs and changes nothing.
func TestAnEstimateIsWhatIsReserved(t *testing.T) {
	w := newEstimateWorld(t)
	item := func(members ...any) object {
		b := object{"factory_id": w.factory, "kind": "post", "prompt": "A shoe for trails"}
		for i := 0; i < len(members); i += 2 {
			b[members[i].(string)] = members[i+1]
		}
		return b
	}
	for _, c := range []struct {
		operation, path string
		body            object
		items           int
	}{
		{"createContentItem", "/v1/content-items", item(), 1},
		{"createContentItem", "/v1/content-items", item("kind", "carousel", "slides", []object{{}, {}, {}}), 1},
		{"createContentItems", "/v1/content-items/batch",
			object{"items": []object{item(), item("kind", "video", "format", "long")}}, 2},
		{"createImage", "/v1/studio/images", object{"prompt": "A shoe", "count": 3}, 1},
		{"createMusic", "/v1/studio/music", object{"prompt": "Calm piano"}, 1},
		{"createVoice", "/v1/studio/voices", object{"text": "Made of recycled nets."}, 1},
		{"createVideo", "/v1/studio/videos", object{"prompt": "A shoe", "model": "wan-2.5"}, 1},
	} {
		before, had := storetest.Snapshot(t, w.DB), w.Balance()
		var e estimate.Estimate
		w.Call(http.MethodPost, "/v1/balance/estimates", object{"operation": c.operation, "body": c.body}).Into(t,
			http.StatusOK, &e)
		if storetest.Snapshot(t, w.DB) != before {
			t.Errorf("%s: the estimate has changed something", c.operation)
		}
		var sum int64
		for _, i := range e.Items {
			sum += i.Credits
		}
		if string(e.Operation) != c.operation || e.Credits <= 0 || sum != e.Credits || len(e.Items) != c.items {
			t.Errorf("%s: %+v", c.operation, e)
		}
		if got := w.Call(http.MethodPost, c.path, c.body); got.Status != http.StatusAccepted {
			t.Errorf("%s: %s", c.operation, got.Raw)
		}
		if cost := had - w.Balance(); cost != e.Credits {
			t.Errorf("%s: estimated %d, reserved %d", c.operation, e.Credits, cost)
		}
		// A test key learns the live price.
		test := w.As(func(p *auth.Principal) { p.Mode = "test" })
		if !strings.HasPrefix(c.operation, "createContent") { // whose factory is of the live key
			var same estimate.Estimate
			test.Call(http.MethodPost, "/v1/balance/estimates",
				object{"operation": c.operation, "body": c.body}).Into(t, http.StatusOK, &same)
			if same.Credits != e.Credits {
				t.Errorf("%s: %d with a test key", c.operation, same.Credits)
			}
		}
	}
}

// What is refused has no estimate: by a rule of law, before anybody counts on a price, or by what a call asks for.
func TestWhatIsRefusedHasNoEstimate(t *testing.T) {
	w := newEstimateWorld(t)
	now := apitest.NewClock().Now()
	account := social.Record{Account: social.Account{Resource: resource.New(social.NewID(now), now, nil),
		Platform: "instagram", Handle: "Acme", FactoryIDs: []string{w.factory}}}
	it, err := account.Item(w.Principal.Owner)
	if err != nil {
		t.Fatal(err)
	}
	tx := &store.Tx{}
	if err := account.Connect(tx, now, it, platform.Token{}); err != nil {
		t.Fatal(err)
	}
	of, err := w.DB.Get(t.Context(), factoryrecord.Key(w.factory))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := factoryrecord.Attach(&of, account.ID, now); err != nil {
		t.Fatal(err)
	}
	tx.Replace(of)
	if err := w.DB.Commit(t.Context(), tx); err != nil {
		t.Fatal(err)
	}
	w.Call(http.MethodPatch, "/v1/factories/"+w.factory, object{"region": "RU", "auto_publish": true,
		"ad_marking": object{"advertiser": "ИП Иванов",
			"tax_id": "500100732259", "erid": "Kra23f"}}).Into(t, http.StatusOK, new(object))
	item := object{"factory_id": w.factory, "kind": "post", "prompt": "A shoe for trails"}
	late := maps.Clone(item)
	late["publish_at"] = now.Add(-time.Hour)
	for _, c := range []struct {
		body  object
		code  errs.Code
		param string
	}{{item, errs.RuleViolated, "/social_account_ids"}, {late, errs.ValidationFailed, "/publish_at"}} {
		w.Call(http.MethodPost, "/v1/content-items", c.body).Refused(t, http.StatusUnprocessableEntity, c.code, c.param)
		w.Call(http.MethodPost, "/v1/balance/estimates", object{"operation": "createContentItem", "body": c.body}).
			Refused(t, http.StatusUnprocessableEntity, c.code, "/body"+c.param)
	}
}

// Another attempt has an estimate, too, in the states that permit one.
func TestAnEstimateOfAnotherAttempt(t *testing.T) {
	w := newEstimateWorld(t)
	type made struct {
		ID              string
		ReservedCredits int64 `json:"reserved_credits"`
	}
	var it made
	w.Call(http.MethodPost, "/v1/content-items", object{"factory_id": w.factory, "kind": "post",
		"prompt": "A shoe"}).Into(t, http.StatusAccepted, &it)
	ask := func(body object) apitest.Answer {
		return w.Call(http.MethodPost, "/v1/balance/estimates", object{"operation": "regenerateContentItem",
			"content_item_id": it.ID, "body": body})
	}
	a := ask(object{})
	a.Refused(t, http.StatusConflict, errs.InvalidState, "")
	a.Context(t, `{"state":"queued","allowed":["update","cancel","delete"]}`)
	w.Call(http.MethodPost, "/v1/content-items/"+it.ID+"/cancel", nil).Into(t, http.StatusOK, &it)
	if it.ReservedCredits != 0 {
		t.Errorf("%+v", it)
	}
	for _, body := range []object{{}, {"model": "nano-banana", "prompt": "A shoe on a path"}} {
		var e estimate.Estimate
		ask(body).Into(t, http.StatusOK, &e)
		w.Call(http.MethodPost, "/v1/content-items/"+it.ID+"/regenerate", body).Into(t, http.StatusAccepted, &it)
		if e.Credits <= 0 || it.ReservedCredits != e.Credits || len(e.Items) != 1 {
			t.Errorf("%v: estimated %+v, reserved %+v", body, e, it)
		}
		w.Call(http.MethodPost, "/v1/content-items/"+it.ID+"/cancel", nil).Into(t, http.StatusOK, &it)
	}
	ask(object{"model": "veo-3.1"}).Refused(t, 422, errs.UnsupportedModel, "/body/model")
	ask(object{"sandbox": object{}}).Refused(t, 422, errs.ValidationFailed, "/body/sandbox")
	ask(object{"kind": "post"}).Refused(t, 422, errs.ValidationFailed, "/body/kind")
	w.Call(http.MethodPost, "/v1/balance/estimates", object{"operation": "regenerateContentItem",
		"body": object{}}).Refused(t, 422, errs.ValidationFailed, "/content_item_id")
	w.Call(http.MethodPost, "/v1/balance/estimates", object{"operation": "createImage", "content_item_id": it.ID,
		"body": object{"prompt": "A shoe"}}).Refused(t, 422, errs.ValidationFailed, "/content_item_id")
	it.ID = w.factory
	ask(object{}).Refused(t, http.StatusNotFound, errs.NotFound, "/content_item_id")
}

// The estimate of a plan has the price of each of its items.
func TestAnEstimateOfAPlan(t *testing.T) {
	w := newEstimateWorld(t)
	body := object{"days": 4, "posts_per_day": 3}
	ask := func(factory any, body object) apitest.Answer {
		return w.Call(http.MethodPost, "/v1/balance/estimates",
			object{"operation": "createContentPlan", "factory_id": factory, "body": body})
	}
	before, had := storetest.Snapshot(t, w.DB), w.Balance()
	var e estimate.Estimate
	ask(w.factory, body).Into(t, http.StatusOK, &e)
	if storetest.Snapshot(t, w.DB) != before {
		t.Error("the estimate has changed something")
	}
	if a := w.Call(http.MethodPost, "/v1/factories/"+w.factory+"/content-plan", body); a.Status != http.StatusAccepted {
		t.Fatal(a.Raw)
	}
	if cost := had - w.Balance(); cost != e.Credits || len(e.Items) != 12 || e.Items[0].Credits == e.Items[2].Credits {
		t.Errorf("estimated %+v, reserved %d", e, cost)
	}
	// Both kinds of visuals are priced side by side, and the one that the body names is what is charged.
	if both := e.ByVisuals; both == nil || both.Stills != e.Credits || both.Clips < 3*both.Stills {
		t.Errorf("estimated %+v for stills and clips", both)
	}
	var clips, posts estimate.Estimate
	ask(w.factory, object{"days": 4, "posts_per_day": 3, "visuals": "clips"}).Into(t, http.StatusOK, &clips)
	ask(w.factory, object{"days": 4, "posts_per_day": 3, "content_types": []string{"post"}}).Into(t, http.StatusOK, &posts)
	if *clips.ByVisuals != *e.ByVisuals || clips.Credits != e.ByVisuals.Clips || posts.ByVisuals != nil {
		t.Errorf("estimated %+v for clips, and %+v for posts", clips, posts)
	}
	ask(w.factory, object{"days": 91, "posts_per_day": 1}).Refused(t, 422, errs.ValidationFailed, "/body/days")
	ask("fac_01h455vb4pex5vsknk084sn02q", body).Refused(t, http.StatusNotFound, errs.NotFound, "/factory_id")
	w.Call(http.MethodPost, "/v1/balance/estimates", object{"operation": "createContentPlan", "body": body}).Refused(t,
		422, errs.ValidationFailed, "/factory_id")
	w.Call(http.MethodPost, "/v1/balance/estimates", object{"operation": "createImage", "factory_id": w.factory,
		"body": object{"prompt": "A shoe"}}).Refused(t, 422, errs.ValidationFailed, "/factory_id")
}

// An estimate reads and fetches the same data as its operation.
func TestAnEstimateNeedsTheScopeOfItsOperation(t *testing.T) {
	w := newEstimateWorld(t)
	fetched := 0
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { fetched++ }))
	defer server.Close()
	bodies := map[string]object{
		"createContentItem": {"body": object{"factory_id": w.factory, "kind": "post", "prompt": "A shoe"}},
		"createContentItems": {"body": object{"items": []object{{"factory_id": w.factory, "kind": "post",
			"prompt": "A shoe"}}}},
		"regenerateContentItem": {"body": object{}, "content_item_id": "cnt_01h455vb4pex5vsknk084sn02q"},
		"createContentPlan":     {"body": object{"days": 1, "posts_per_day": 1}, "factory_id": w.factory},
		"startTraining":         {"body": object{}, "factory_id": w.factory},
		"updateComment": {"body": object{"suggest_reply": true},
			"comment_id": "com_01h455vb4pex5vsknk084sn02q"},
		"sendMessage": {"body": object{"text": "Hello"}},
		"createImage": {"body": object{"prompt": "A shoe"}},
		"createMusic": {"body": object{"prompt": "Calm piano"}},
		"createVoice": {"body": object{"text": "Made of nets."}},
		"createVideo": {"body": object{"prompt": "A shoe"}},
		"createAvatar": {"body": object{"audio_url": server.URL, "image_url": server.URL,
			"model": "omnihuman-1.5"}},
	}
	scopes := map[string]auth.Scope{}
	for _, route := range api.Routes() {
		scopes[route.OperationID] = route.Scope
	}
	operations, err := json.Marshal(estimate.Operation("").Schema(nil).Enum)
	if err != nil {
		t.Fatal(err)
	}
	for operation, body := range bodies {
		if !strings.Contains(string(operations), `"`+operation+`"`) {
			t.Errorf("%s is not in %s", operation, operations)
		}
		scope := scopes[operation]
		body["operation"] = operation
		a := w.Only(auth.AccountRead).Call(http.MethodPost, "/v1/balance/estimates", body)
		if a.Refused(t, 403, errs.InsufficientScope, ""); !strings.Contains(a.Error.Message, string(scope)) ||
			scope == "" {
			t.Errorf("%s: %s, want %q", operation, a.Error.Message, scope)
		}
		if a := w.Only(auth.AccountRead, scope).Call(http.MethodPost, "/v1/balance/estimates",
			body); a.Status == http.StatusForbidden {
			t.Errorf("%s with %s: %s", operation, scope, a.Raw)
		}
	}
	if len(bodies) != strings.Count(string(operations), ",")+1 {
		t.Errorf("%d bodies for %s", len(bodies), operations)
	}
	if fetched != 1 {
		t.Errorf("%d addresses were fetched, want that of the key with the scope", fetched)
	}
}

func TestWhatHasNoEstimate(t *testing.T) {
	w := newEstimateWorld(t)
	good := object{"factory_id": w.factory, "kind": "post", "prompt": "A shoe"}
	for name, c := range map[string]struct {
		body  object
		code  errs.Code
		param string
	}{
		"no operation": {object{"body": good}, errs.ValidationFailed, "/operation"},
		"one that costs nothing": {object{"operation": "createFactory", "body": good}, errs.ValidationFailed,
			"/operation"},
		"no body": {object{"operation": "createContentItem"}, errs.ValidationFailed, "/body"},
		"a member is missing": {object{"operation": "createImage", "body": object{}}, errs.ValidationFailed,
			"/body/prompt"},
		"a member is unknown": {object{"operation": "createImage", "body": object{"prompt": "A shoe", "size": 1}},
			errs.ValidationFailed, "/body/size"},
		"another operation's": {object{"operation": "createImage", "body": good}, errs.ValidationFailed,
			"/body/factory_id"},
		"a blank prompt": {object{"operation": "createImage", "body": object{"prompt": "  "}},
			errs.ValidationFailed, "/body/prompt"},
		"an unknown factory": {object{"operation": "createContentItem",
			"body": object{"factory_id": "fac_01h455vb4pex5vsknk084sn02q", "kind": "post", "prompt": "A shoe"}},
			errs.NotFound, "/body/factory_id"},
		"an unknown model": {object{"operation": "createImage",
			"body": object{"prompt": "A shoe", "model": "none"}}, errs.UnsupportedModel, "/body/model"},
		"a rehearsal, live": {object{"operation": "createImage",
			"body": object{"prompt": "A shoe", "sandbox": object{"outcome": "failed"}}}, errs.ValidationFailed,
			"/body/sandbox"},
		"the only one of a batch": {object{"operation": "createContentItems",
			"body": object{"items": []object{{"factory_id": w.factory, "kind": "post", "prompt": "A shoe",
				"format": "long"}}}}, errs.ValidationFailed, "/body/items/0/format"},
		"the second of a batch": {object{"operation": "createContentItems",
			"body": object{"items": []object{good, {"factory_id": w.factory, "kind": "post", "prompt": "A shoe",
				"format": "long"}}}}, errs.ValidationFailed, "/body/items/1/format"},
		"a member of its own too": {object{"operation": "createContentItem", "body": good, "dry_run": true},
			errs.ValidationFailed, "/dry_run"},
	} {
		t.Run(name, func(t *testing.T) {
			status, _ := httpapi.Status(c.code)
			w.Call(http.MethodPost, "/v1/balance/estimates", c.body).Refused(t, status, c.code, c.param)
		})
	}
}
