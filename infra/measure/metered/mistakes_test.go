package metered

import (
	"bytes"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"maps"
	"net/http"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/content-automation/api/pkg/area/advice"
	"github.com/content-automation/api/pkg/area/plan"
	"github.com/content-automation/api/pkg/base/errs"
	"github.com/content-automation/api/pkg/httpapi"
)

var update = flag.Bool("update", false, "write "+mistakesFile)

const mistakesFile = "testdata/mistakes.md"

// mistake is a request that is refused. Names in the request line stand for ids: {item}.
type mistake struct {
	what    string
	request string // method, path and query
	body    string
	header  map[string]string
}

// title begins a table of mistakes.
type title string

var form = map[string]string{"Content-Type": "application/x-www-form-urlencoded"}

func contentType(kind string) map[string]string { return map[string]string{"Content-Type": kind} }

func authorization(value string) map[string]string {
	return map[string]string{"Authorization": value}
}

// mistakes are the mistakes that callers make. Most of them were observed.
var mistakes = []any{
	title("Key"),
	mistake{"no key", "GET /v1/me", "", authorization("")},
	mistake{"the key in another header", "GET /v1/me", "",
		map[string]string{"Authorization": "", "X-Api-Key": "svc_test_…"}},
	mistake{"the key without `Bearer`", "GET /v1/me", "", authorization("{secret}")},
	mistake{"Basic", "GET /v1/me", "", authorization("Basic dXNlcjpwYXNz")},
	mistake{"a mistyped key", "GET /v1/me", "", authorization("Bearer svc_test_mistyped")},
	mistake{"a scope that the key lacks", "POST /v1/factories", `{"type":"brand","name":"Acme"}`,
		authorization("Bearer {narrow}")},
	title("Path and method"),
	mistake{"a slash at the end", "GET /v1/factories/", "", nil},
	mistake{"the singular", "GET /v1/factory", "", nil},
	mistake{"underscores", "GET /v1/content_items", "", nil},
	mistake{"a part left out", "GET /v1/models", "", nil},
	mistake{"a misspelled action", "POST /v1/content-items/{item}/cancle", "", nil},
	mistake{"a path that is like none", "GET /v1/invoices", "", nil},
	mistake{"an id of another kind", "GET /v1/content-items/{factory}", "", nil},
	mistake{"an id that does not exist", "GET /v1/factories/fac_01h455vb4pex5vsknk084sn02q", "", nil},
	mistake{"PUT for PATCH", "PUT /v1/factories/{factory}", `{"name":"Acme"}`, nil},
	mistake{"GET of an action", "GET /v1/content-items/batch", "", nil},
	mistake{"OPTIONS", "OPTIONS /v1/content-items/batch", "", nil},
	title("Headers"),
	mistake{"a form", "POST /v1/factories", "type=brand&name=Acme", form},
	mistake{"another charset", "POST /v1/factories", `{"type":"brand","name":"Acme"}`,
		contentType("application/json; charset=iso-8859-1")},
	mistake{"a merge patch by POST", "POST /v1/factories", `{"type":"brand","name":"Acme"}`,
		contentType("application/merge-patch+json")},
	mistake{"a JSON Patch", "PATCH /v1/factories/{factory}", `[{"op":"replace","path":"/name","value":"Acme"}]`,
		contentType("application/json-patch+json")},
	mistake{"If-Match without quotes", "PATCH /v1/factories/{factory}", `{"name":"Acme"}`,
		map[string]string{"If-Match": "1"}},
	mistake{"If-Match of an old version", "PATCH /v1/factories/{factory}", `{"name":"Acme"}`,
		map[string]string{"If-Match": `"77"`}},
	mistake{"an Idempotency-Key that is too long", "POST /v1/factories", `{"type":"brand","name":"Acme"}`,
		map[string]string{"Idempotency-Key": strings.Repeat("k", 256)}},
	mistake{"an Idempotency-Key for another request", "POST /v1/factories", `{"type":"brand","name":"Other"}`,
		map[string]string{"Idempotency-Key": "used"}},
	title("Syntax of the body"),
	mistake{"no body", "POST /v1/factories", "", nil},
	mistake{"a comma too many", "POST /v1/factories", "{\n  \"type\": \"brand\",\n  \"name\": \"Acme\",\n}", nil},
	mistake{"a comma too few", "POST /v1/factories", `{"type":"brand" "name":"Acme"}`, nil},
	mistake{"single quotes", "POST /v1/factories", `{'type':'brand'}`, nil},
	mistake{"a name without quotes", "POST /v1/factories", `{type:"brand"}`, nil},
	mistake{"a comment", "POST /v1/factories", `{"type":"brand"} // ours`, nil},
	mistake{"None of Python", "POST /v1/factories", `{"type":"brand","name":None}`, nil},
	mistake{"a brace too few", "POST /v1/factories", `{"type":"brand","name":"Acme"`, nil},
	mistake{"a line break in a string", "POST /v1/factories", "{\"type\":\"brand\",\"name\":\"Ac\nme\"}", nil},
	mistake{"a backslash", "POST /v1/factories", `{"type":"brand","name":"C:\dir"}`, nil},
	mistake{"a byte order mark", "POST /v1/factories", "\ufeff" + `{"type":"brand","name":"Acme"}`, nil},
	mistake{"a member twice", "POST /v1/factories", `{"type":"brand","name":"Acme","name":"Other"}`, nil},
	mistake{"an array", "POST /v1/factories", `[{"type":"brand","name":"Acme"}]`, nil},
	mistake{"a body that is not taken", "GET /v1/factories", `{"limit":5}`, nil},
	title("Parameters"),
	mistake{"pages by number", "GET /v1/factories?page=2", "", nil},
	mistake{"a cursor of another API", "GET /v1/content-items?starting_after={item}", "", nil},
	mistake{"page size of another API", "GET /v1/factories?per_page=50", "", nil},
	mistake{"sort", "GET /v1/content-items?sort=created_at", "", nil},
	mistake{"another case", "GET /v1/content-items?factoryId={factory}", "", nil},
	mistake{"an unknown one", "GET /v1/catalog/plans?colour=red", "", nil},
	mistake{"too large a page", "GET /v1/factories?limit=1000", "", nil},
	mistake{"no number", "GET /v1/factories?limit=ten", "", nil},
	mistake{"metadata without its name", "GET /v1/content-items?metadata=4711", "", nil},
	mistake{"one twice", "GET /v1/factories?limit=5&limit=6", "", nil},
	mistake{"an empty one", "GET /v1/events?to=", "", nil},
	mistake{"a misspelled value", "GET /v1/content-items?state=cancelled", "", nil},
	mistake{"a date for a time", "GET /v1/events?from=2026-05-01", "", nil},
	mistake{"a plus that is not escaped", "GET /v1/events?from=2026-05-01T12:00:00+02:00", "", nil},
	mistake{"a time for a day", "GET /v1/factories/{factory}/analytics?from=2026-05-01T00:00:00Z", "", nil},
	mistake{"days the wrong way round", "GET /v1/factories/{factory}/analytics?from=2026-05-02&to=2026-05-01", "", nil},
	mistake{"more than a year", "GET /v1/factories/{factory}/analytics?from=2024-01-01&to=2026-05-01", "", nil},
	mistake{"a city for a time zone", "GET /v1/factories/{factory}/analytics?timezone=Berlin", "", nil},
	mistake{"a group that there is not", "GET /v1/factories/{factory}/analytics?group_by=week", "", nil},
	mistake{"a damaged cursor", "GET /v1/factories?cursor=abc", "", nil},
	mistake{"several at once", "GET /v1/factories?page=2&limit=0&to=", "", nil},
	title("Members"),
	mistake{"camel case", "POST /v1/content-items", `{"factoryId":"{factory}","kind":"post","prompt":"A shoe"}`, nil},
	mistake{"a name of another API", "POST /v1/content-items",
		`{"factory_id":"{factory}","kind":"video","prompt":"A shoe","duration":20}`, nil},
	mistake{"`events` of a webhook", "POST /v1/webhooks",
		`{"url":"https://crm.example.com/hooks","events":["content.*"]}`, nil},
	mistake{"one that the service sets", "POST /v1/content-items",
		`{"factory_id":"{factory}","kind":"post","prompt":"A shoe","state":"queued"}`, nil},
	mistake{"a string for a number", "POST /v1/api-keys/{key}/rotate", `{"overlap_seconds":"60"}`, nil},
	mistake{"a fraction for an integer", "POST /v1/api-keys/{key}/rotate", `{"overlap_seconds":1.5}`, nil},
	mistake{"a number for a string", "POST /v1/factories", `{"type":"brand","name":7}`, nil},
	mistake{"an empty string", "POST /v1/content-items", `{"factory_id":"{factory}","kind":"post","prompt":""}`, nil},
	mistake{"blanks", "POST /v1/content-items", `{"factory_id":"{factory}","kind":"post","prompt":"  "}`, nil},
	mistake{"a line break in a name", "POST /v1/factories",
		`{"type":"brand","name":"Ac\nme","settings":{"brand_name":"Acme"}}`, nil},
	mistake{"a misspelled value", "POST /v1/content-items",
		`{"factory_id":"{factory}","kind":"vidoe","prompt":"A shoe"}`, nil},
	mistake{"a kind of another API", "POST /v1/content-items",
		`{"factory_id":"{factory}","kind":"reel","prompt":"A shoe"}`, nil},
	mistake{"a picture as a kind", "POST /v1/content-items",
		`{"factory_id":"{factory}","kind":"image","prompt":"A shoe"}`, nil},
	mistake{"a time in the past", "POST /v1/content-items",
		`{"factory_id":"{factory}","kind":"post","prompt":"A shoe","publish_at":"2020-05-01T12:00:00Z"}`, nil},
	mistake{"accounts without a time", "POST /v1/content-items",
		`{"factory_id":"{factory}","kind":"post","prompt":"A shoe","social_account_ids":["{social}"]}`, nil},
	mistake{"`url` of a file", "POST /v1/media", `{"url":"https://www.example.com/shoe.jpg"}`, nil},
	mistake{"a sample of no type", "POST /v1/webhooks/{webhook}/test", `{}`, nil},
	mistake{"a type of event of another API", "POST /v1/webhooks",
		`{"url":"https://crm.example.com/hooks","event_types":["content.completed"]}`, nil},
	mistake{"a misspelled type of factory", "POST /v1/factories", `{"type":"brands","name":"Acme"}`, nil},
	mistake{"settings of another type", "POST /v1/factories",
		`{"type":"musician","name":"Anna","settings":{"brand_name":"Acme"}}`, nil},
	mistake{"a wildcard as a scope", "POST /v1/api-keys", `{"name":"CRM","kind":"test","scopes":["content:*"]}`, nil},
	mistake{"an unknown type of event", "POST /v1/webhooks",
		`{"url":"https://crm.example.com/hooks","event_types":["content.made"]}`, nil},
	mistake{"a private address", "POST /v1/webhooks",
		`{"url":"https://10.0.0.1/hooks","event_types":["content.*"]}`, nil},
	mistake{"numbers as metadata", "POST /v1/content-items",
		`{"factory_id":"{factory}","kind":"post","prompt":"A shoe","metadata":{"campaign":7}}`, nil},
	mistake{"a format of another kind", "POST /v1/content-items",
		`{"factory_id":"{factory}","kind":"post","prompt":"A shoe","format":"short","slides":[{"text":"A sole"},{"text":"A lace"}]}`, nil},
	mistake{"a video of an hour", "POST /v1/content-items",
		`{"factory_id":"{factory}","kind":"video","prompt":"A shoe","duration_seconds":3600}`, nil},
	mistake{"a short video of two minutes", "POST /v1/content-items",
		`{"factory_id":"{factory}","kind":"video","prompt":"A shoe","duration_seconds":120}`, nil},
	mistake{"a post that plays, with music", "POST /v1/content-items",
		`{"factory_id":"{factory}","kind":"post","prompt":"A shoe","duration_seconds":20,"music":"generated"}`, nil},
	mistake{"an address as music", "POST /v1/content-items",
		`{"factory_id":"{factory}","kind":"video","prompt":"A shoe","music":"https://example.com/a.mp3"}`, nil},
	mistake{"music that does not exist", "POST /v1/content-items",
		`{"factory_id":"{factory}","kind":"video","prompt":"A shoe","music":"med_01h455vb4pex5vsknk084sn02q"}`, nil},
	mistake{"stills of a video model", "POST /v1/content-items",
		`{"factory_id":"{factory}","kind":"video","prompt":"A shoe","visuals":"stills","model":"veo-3.1"}`, nil},
	mistake{"a carousel in a writing system without a font", "POST /v1/content-items",
		`{"factory_id":"{factory}","kind":"carousel","prompt":"A shoe","language":"bn"}`, nil},
	mistake{"a logo that does not exist", "POST /v1/factories",
		`{"type":"brand","name":"Acme","settings":{"brand_name":"Acme","logo":"med_01h455vb4pex5vsknk084sn02q"}}`, nil},
	mistake{"an address as a logo", "POST /v1/factories",
		`{"type":"brand","name":"Acme","settings":{"brand_name":"Acme","logo":"https://acme.example.com/logo.svg"}}`,
		nil},
	mistake{"an intro that does not exist", "POST /v1/factories",
		`{"type":"brand","name":"Acme","settings":{"brand_name":"Acme","intro":"med_01h455vb4pex5vsknk084sn02q"}}`, nil},
	mistake{"an unknown model", "POST /v1/content-items",
		`{"factory_id":"{factory}","kind":"post","prompt":"A shoe","model":"gpt-9"}`, nil},
	mistake{"an unknown factory", "POST /v1/content-items",
		`{"factory_id":"fac_01h455vb4pex5vsknk084sn02q","kind":"post","prompt":"A shoe"}`, nil},
	mistake{"several at once", "POST /v1/content-items",
		`{"kind":"vidoe","prompt":7,"duration":20,"factoryId":"x"}`, nil},
	mistake{"a bad language and settings", "POST /v1/factories",
		`{"type":"brand","name":"Acme","language":"german","settings":{"brandname":"Acme"}}`, nil},
	mistake{"what the schema refuses, and what the rules refuse", "POST /v1/factories",
		`{"type":"brand","name":7,"language":"german","settings":{"brand_name":"Acme","slogn":"Run"}}`, nil},
	mistake{"a bad time zone and a bad time", "POST /v1/factories",
		`{"type":"brand","name":"Acme","settings":{"brand_name":"Acme"},"schedule":{"timezone":"Mars/Base","times":["9:00","25:00"]}}`, nil},
	mistake{"a misspelled scope, a bad range and no name", "POST /v1/api-keys",
		`{"kind":"test","scopes":["content:raed"],"ip_allow_list":["203.0.113"]}`, nil},
	mistake{"a webhook with two addresses and no types", "POST /v1/webhooks",
		`{"url":"https://crm.example.com/hooks","destination":{"kind":"sqs","arn":"arn:aws:sqs:eu-central-1:111122223333:events","role_arn":"arn:aws:iam::111122223333:role/events"}}`, nil},
	mistake{"two items of a batch", "POST /v1/content-items/batch",
		`{"items":[{"factory_id":"{factory}","kind":"post","prompt":7},{"factory_id":"{factory}","kind":"post","prompt":"A shoe","format":"short"}]}`, nil},
	mistake{"an avatar with two speeches and a long language", "POST /v1/studio/avatars",
		`{"text":"Hello","audio_url":"https://example.com/a.mp3","language":"the language that is spoken in Germany"}`,
		nil},
	mistake{"a blank text and an odd voice", "POST /v1/studio/voices", `{"text":"  ","voice":"../x"}`, nil},
	mistake{"a plan of no days, with too many posts and no types", "POST /v1/factories/{factory}/content-plan",
		`{"days":0,"posts_per_day":11,"content_types":[]}`, nil},
	mistake{"a plan of 91 days, with a kind for a type", "POST /v1/factories/{factory}/content-plan",
		`{"days":91,"posts_per_day":1,"content_types":["video"]}`, nil},
	mistake{"a plan that starts some day", "POST /v1/factories/{factory}/content-plan",
		`{"days":7,"posts_per_day":1,"starts_on":"tomorrow"}`, nil},
	mistake{"an estimate of a plan without its factory", "POST /v1/balance/estimates",
		`{"operation":"createContentPlan","body":{"days":7,"posts_per_day":1}}`, nil},
	title("Changes"),
	mistake{"a misspelled scope and an empty name", "PATCH /v1/api-keys/{key}",
		`{"name":"","scopes":["content:raed"]}`, nil},
	mistake{"the prompt of an item", "PATCH /v1/content-items/{item}", `{"prompt":"A boot"}`, nil},
	mistake{"the state of an item", "PATCH /v1/content-items/{item}", `{"state":"canceled"}`, nil},
	mistake{"the type of a factory", "PATCH /v1/factories/{factory}", `{"type":"blogger"}`, nil},
	mistake{"the kind of a key", "PATCH /v1/api-keys/{key}", `{"kind":"live"}`, nil},
	mistake{"an id", "PATCH /v1/factories/{factory}", `{"id":"fac_1"}`, nil},
	mistake{"an unknown member", "PATCH /v1/factories/{factory}", `{"nmae":"Acme"}`, nil},
	mistake{"a member of another operation", "POST /v1/factories/{factory}/diagnose", `{"days":30}`, nil},
	mistake{"a failure that needs an outcome", "POST /v1/factories/{factory}/diagnose",
		`{"sandbox":{"failure_code":"timeout"}}`, nil},
	mistake{"null for what must be there", "PATCH /v1/factories/{factory}", `{"name":null}`, nil},
	title("Publishing"),
	mistake{"a time in the past", "POST /v1/content-items/{item}/schedule",
		`{"publish_at":"2020-05-01T12:00:00Z","social_account_ids":["{social}"]}`, nil},
	mistake{"a time without a zone", "POST /v1/content-items/{item}/schedule",
		`{"publish_at":"2030-05-01 12:00","social_account_ids":["{social}"]}`, nil},
	mistake{"more than 180 days ahead", "POST /v1/content-items/{item}/schedule",
		`{"publish_at":"2099-05-01T12:00:00Z","social_account_ids":["{social}"]}`, nil},
	mistake{"no time", "POST /v1/content-items/{item}/schedule", `{"social_account_ids":["{social}"]}`, nil},
	mistake{"no accounts, where the factory has none", "POST /v1/content-items/{item}/publish", "", nil},
	mistake{"one account twice", "POST /v1/content-items/{item}/publish",
		`{"social_account_ids":["{social}","{social}"]}`, nil},
	mistake{"an unknown account", "POST /v1/content-items/{item}/publish",
		`{"social_account_ids":["soc_01h455vb4pex5vsknk084sn02q"]}`, nil},
	mistake{"an option that the platform does not have", "POST /v1/content-items/{item}/publish",
		`{"social_account_ids":["{social}"],"options":{"telegram":{"disable_duet":true}}}`, nil},
	mistake{"options of a platform that is not chosen", "POST /v1/content-items/{item}/publish",
		`{"social_account_ids":["{social}"],"options":{"tiktok":{"disable_duet":true}}}`, nil},
	mistake{"no declaration of AI", "POST /v1/content-items/{item}/publish",
		`{"social_account_ids":["{social}"],"options":{"telegram":{"is_aigc":false}}}`, nil},
	mistake{"an unknown failure code", "POST /v1/content-items/{item}/publish",
		`{"social_account_ids":["{social}"],"sandbox":{"outcome":"failed","failure_code":"oops"}}`, nil},
	title("State, money and limits"),
	mistake{"cancel what is generated", "POST /v1/content-items/{item}/cancel", "", nil},
	mistake{"diagnose a factory twice at a time", "POST /v1/factories/{diagnosing}/diagnose", "", nil},
	mistake{"apply a proposal twice", "POST /v1/factories/{diagnosed}/proposals/{applied}/apply", "", nil},
	mistake{"apply a proposal for a value that has changed since",
		"POST /v1/factories/{diagnosed}/proposals/{stale}/apply", "", nil},
	mistake{"train a model from too few items", "POST /v1/factories/{factory}/training", `{}`, nil},
	mistake{"train a model of pictures", "POST /v1/factories/{factory}/training", `{"base_model":"flux-pro-1.1"}`, nil},
	mistake{"the training of a factory without one", "GET /v1/factories/{factory}/training", "", nil},
	mistake{"a second plan for the same days", "POST /v1/factories/{planned}/content-plan",
		`{"days":7,"posts_per_day":1}`, nil},
	mistake{"the plan of a factory without one", "GET /v1/factories/{factory}/content-plan", "", nil},
	mistake{"approve topics of a plan without any", "POST /v1/factories/{planned}/content-plan/topics/approve", `{}`, nil},
	mistake{"a topic on a day of no plan", "POST /v1/factories/{topical}/content-plan/topics",
		`{"topic":"A shoe","publish_at":"2099-01-01T00:00:00Z"}`, nil},
	mistake{"a topic that there is not", "PATCH /v1/factories/{topical}/content-plan/topics/99", `{"topic":"A shoe"}`, nil},
	mistake{"approve a topic that there is not", "POST /v1/factories/{topical}/content-plan/topics/approve",
		`{"numbers":[1,99]}`, nil},
	mistake{"a plan that waits for its items", "POST /v1/factories/{factory}/content-plan",
		`{"days":7,"posts_per_day":1,"approve":"items","write_ahead_hours":0,"starts_on":"2099-01-01"}`, nil},
	mistake{"a plan in a time zone that there is not", "POST /v1/factories/{factory}/content-plan",
		`{"days":7,"posts_per_day":1,"timezone":"Berlin"}`, nil},
	mistake{"a share of products for a brand", "POST /v1/factories/{factory}/content-plan",
		`{"days":7,"posts_per_day":1,"product_share":50}`, nil},
	mistake{"a plan for a paused factory", "POST /v1/factories/{paused}/content-plan",
		`{"days":7,"posts_per_day":1}`, nil},
	mistake{"an item of a paused factory", "POST /v1/content-items",
		`{"factory_id":"{paused}","kind":"post","prompt":"A shoe"}`, nil},
	mistake{"an empty message", "POST /v1/architect/chats/{chat}/messages", `{"text":""}`, nil},
	mistake{"a message that is too long", "POST /v1/architect/chats/{chat}/messages", `{"text":"{long}"}`, nil},
	mistake{"a chat about an unknown factory", "POST /v1/architect/chats",
		`{"factory_id":"fac_01h455vb4pex5vsknk084sn02q"}`, nil},
	mistake{"a draft with a body that its operation does not take", "PATCH /v1/architect/drafts/{draft}",
		`{"body":{"kind":"video","slides":[{"text":"A sole"},{"text":"A lace"}],"promt":"A shoe"}}`, nil},
	mistake{"the kind of a draft", "PATCH /v1/architect/drafts/{draft}", `{"kind":"factory"}`, nil},
	mistake{"apply a draft twice", "POST /v1/architect/drafts/{used draft}/apply", "", nil},
	mistake{"a draft that there is not", "POST /v1/architect/drafts/drf_01h455vb4pex5vsknk084sn02q/apply", "", nil},
	mistake{"a reply that takes too long", "POST /v1/architect/chats/{chat}/messages",
		`{"text":"Hello","sandbox":{"outcome":"timeout"}}`, nil},
	mistake{"rotate a revoked key", "POST /v1/api-keys/{revoked}/rotate", "", nil},
	mistake{"a balance that is too low", "POST /v1/content-items",
		`{"factory_id":"{factory}","kind":"post","prompt":"A shoe","sandbox":{"outcome":"insufficient_balance"}}`, nil},
	mistake{"too many calls", "POST /v1/content-items",
		`{"factory_id":"{factory}","kind":"post","prompt":"A shoe","sandbox":{"outcome":"rate_limited"}}`, nil},
}

// TestMistakes compares the answers to mistakes with those in testdata. The flag -update writes them.
func TestMistakes(t *testing.T) {
	w := filled(t)
	names := map[string]string{"item": w.item, "factory": w.factory, "secret": w.key, "planned": w.planned,
		"social": w.channel}
	create := func(r Request) (data struct{ ID, Secret string }) {
		t.Helper()
		a, err := w.Call(t.Context(), r)
		if err != nil {
			t.Fatal(err)
		}
		if err := json.Unmarshal(a.Data, &data); err != nil {
			t.Fatal(err)
		}
		return data
	}
	narrow := create(Request{Operation: "createApiKey", Body: Object{"name": "narrow", "kind": "test",
		"scopes": []string{"account:read"}}})
	names["narrow"], names["key"] = narrow.Secret, narrow.ID
	names["revoked"] = create(Request{Operation: "createApiKey", Body: Object{"name": "revoked", "kind": "test",
		"scopes": []string{"account:manage"}}}).ID
	create(Request{Operation: "revokeApiKey", ID: names["revoked"]})
	names["paused"] = create(Request{Operation: "createFactory", Body: w.Examples()["createFactory"].Body}).ID
	planned, err := w.Call(t.Context(), Request{Operation: "getContentPlan", ID: w.planned})
	var p plan.Plan
	if err := errors.Join(err, json.Unmarshal(planned.Data, &p)); err != nil {
		t.Fatal(err)
	}
	days, err := p.Booked()
	if err != nil {
		t.Fatal(err)
	}
	if names["topical"], err = w.proposed(t.Context()); err != nil {
		t.Fatal(err)
	}
	names["plan"], names["first day"], names["last day"] = days.ID, days.First, days.Last
	create(Request{Operation: "updateFactory", ID: names["paused"], Body: Object{"state": "paused"}})
	create(Request{Operation: "createFactory", Body: w.Examples()["createFactory"].Body,
		Header: map[string]string{"Idempotency-Key": "used"}})

	names["diagnosing"] = create(Request{Operation: "createFactory", Body: w.Examples()["createFactory"].Body}).ID
	create(Request{Operation: "diagnoseFactory", ID: names["diagnosing"]})
	applying, err := w.Prepare(t.Context(), "applyProposal")
	if err != nil {
		t.Fatal(err)
	}
	create(applying)
	names["diagnosed"], names["applied"] = applying.ID, applying.Part
	// The caller has changed what another proposal would change.
	of, err := w.Call(t.Context(), Request{Operation: "getDiagnosis", ID: applying.ID})
	if err != nil {
		t.Fatal(err)
	}
	var d advice.Diagnosis
	if err := json.Unmarshal(of.Data, &d); err != nil || len(d.ProposalIDs) < 2 {
		t.Fatalf("%s: %v", of.Data, err)
	}
	names["stale"] = d.ProposalIDs[1]
	create(Request{Operation: "updateFactory", ID: applying.ID, Body: Object{"audience": "Runners", "topics": []string{
		"Shoes"}, "description": "Shoes", "tone": "dry"}})
	w.createProducts(t, names, func(r Request) string { return create(r).ID })

	names["long"] = strings.Repeat("shoe ", 801)
	if names["chat"], names["draft"], err = w.drafted(t.Context()); err != nil {
		t.Fatal(err)
	}
	if _, names["used draft"], err = w.drafted(t.Context()); err != nil {
		t.Fatal(err)
	}
	create(Request{Operation: "applyDraft", ID: names["used draft"]})

	var out strings.Builder
	out.WriteString("# Mistakes and their answers\n\nWritten by go test ./infra/measure/metered -run TestMistakes " +
		"-update.\n")
	n, grades := 0, map[string]int{}
	for _, entry := range slices.Concat(mistakes, goodsMistakes, socialMistakes, callersMistakes) {
		if name, ok := entry.(title); ok {
			fmt.Fprintf(&out, "\n## %s\n\n| Mistake | Request | Code | Answer |\n|---|---|---|---|\n", name)
			continue
		}
		m := entry.(mistake)
		n++
		out.WriteString(w.row(t, m, names, grades))
		w.mend(t, m, names)
	}
	t.Logf("%d mistakes; texts by grade: %v", n, grades)
	if n < 120 {
		t.Errorf("there are %d mistakes", n)
	}
	for name, value := range names {
		if strings.Contains(out.String(), value) {
			t.Errorf("the answers repeat %s", name)
		}
	}
	if *update {
		if err := os.WriteFile(mistakesFile, []byte(out.String()), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	want, err := os.ReadFile(mistakesFile)
	if err != nil {
		t.Fatal(err)
	}
	got := strings.Split(out.String(), "\n")
	for i, line := range strings.Split(string(want), "\n") {
		if i >= len(got) || got[i] != line {
			t.Fatalf("line %d of %s differs; -update writes it:\n got %s\nwant %s", i+1, mistakesFile,
				got[min(i, len(got)-1)], line)
		}
	}
}

// requestOf returns the request of a mistake, with the ids that its names stand for.
func (w *World) requestOf(m mistake, names map[string]string) Request {
	filling := func(text string) string {
		for name, value := range names {
			text = strings.ReplaceAll(text, "{"+name+"}", value)
		}
		return text
	}
	r := Request{Raw: filling(m.body), Header: map[string]string{}}
	r.Method, r.Path, _ = strings.Cut(filling(m.request), " ")
	r.Operation = w.operation(r.Method, r.Path)
	for name, value := range m.header {
		r.Header[name] = filling(value)
	}
	return r
}

// row makes a mistake, and returns its row of the table.
func (w *World) row(t *testing.T, m mistake, names map[string]string, grades map[string]int) string {
	t.Helper()
	r := w.requestOf(m, names)
	a, err := w.Send(t.Context(), r)
	if err != nil {
		t.Fatal(err)
	}
	var answer httpapi.ErrorResponse
	var context struct {
		Error struct{ Context json.RawMessage }
	}
	if err := errs.All(json.Unmarshal([]byte(a.Body), &context), json.Unmarshal([]byte(a.Body), &answer)); err != nil ||
		answer.Err.Message == "" || a.Status < 400 {
		t.Errorf("%s: %d %s, %v", m.what, a.Status, a.Body, err)
	}
	details := answer.Err.Details
	if len(details) == 0 {
		details = []errs.Detail{{Param: answer.Err.Param, Message: answer.Err.Message}}
	}
	judge(t, m, details, grades)
	said := answer.Err.Message
	if len(answer.Err.Details) > 0 {
		said = ""
		for _, d := range answer.Err.Details {
			said += "<br>" + strings.TrimPrefix("`"+d.Param+"` ", "`` ") + d.Message
		}
		said = strings.TrimPrefix(said, "<br>")
	} else if answer.Err.Param != "" {
		said = "`" + answer.Err.Param + "` " + said
	}
	if c := context.Error.Context; c != nil {
		said += "<br>context: `" + string(c) + "`"
	}
	for name, value := range names {
		said = strings.ReplaceAll(said, value, "{"+name+"}")
	}
	request := "`" + m.request + "`"
	if m.body != "" {
		quoted := fmt.Sprintf("%+q", m.body)
		request += "<br>`" + strings.NewReplacer(`\"`, `"`, `\\`, `\`).Replace(quoted[1:len(quoted)-1]) + "`"
	}
	for _, name := range slices.Sorted(maps.Keys(m.header)) {
		request += "<br>" + fmt.Sprintf("`%s: %.40s`", name, m.header[name])
	}
	clean := strings.NewReplacer("|", `\|`, "\n", " ")
	return fmt.Sprintf("| %s | %s | %d `%s` | %s |\n", m.what, clean.Replace(request), a.Status, answer.Err.Code,
		clean.Replace(said))
}

// operation returns an operation of the function that the gateway calls for a request: the function of its path, or
// that of all unknown paths.
func (w *World) operation(method, path string) string {
	mux, of := http.NewServeMux(), map[string]string{}
	for id, route := range w.Routes {
		if of[route.Path] == "" {
			mux.Handle(route.Path, http.NotFoundHandler())
		}
		if of[route.Path] == "" || route.Method == method {
			of[route.Path] = id
		}
	}
	req, err := http.NewRequest(http.MethodGet, path, bytes.NewReader(nil))
	if err != nil {
		return "getMe"
	}
	if _, pattern := mux.Handler(req); of[pattern] != "" {
		return of[pattern]
	}
	return "getMe"
}
