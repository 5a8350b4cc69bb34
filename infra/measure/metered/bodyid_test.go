package metered

import (
	"encoding/json"
	"maps"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/content-automation/api/infra/verify/answers"
	"github.com/content-automation/api/pkg/base/id"
)

// anID finds the prefix of an id among the examples and patterns of the document.
var anID = regexp.MustCompile(`^\^?([a-z]{3})_[0-9a-z\[]`)

// idMembers finds the members of a body that take ids: their pointers with the prefix of the ids. A list is named with
// its first element.
func idMembers(d *answers.Document, schema any, at string, found map[string]string) {
	s, ok := schema.(map[string]any)
	if !ok {
		return
	}
	if ref, ok := s["$ref"].(string); ok {
		if strings.Count(at, "/") < 3 {
			idMembers(d, d.At(strings.Split(strings.TrimPrefix(ref, "#/"), "/")...), at, found)
		}
		return
	}
	for _, all := range []string{"allOf", "anyOf", "oneOf"} {
		options, _ := s[all].([]any)
		for _, one := range options {
			idMembers(d, one, at, found)
		}
	}
	texts := []any{s["pattern"], s["example"]}
	if examples, ok := s["examples"].([]any); ok {
		texts = append(texts, examples...)
	}
	for _, text := range texts {
		if text, ok := text.(string); ok {
			if m := anID.FindStringSubmatch(text); m != nil {
				found[at] = m[1]
			}
		}
	}
	if items, ok := s["items"]; ok {
		idMembers(d, items, at+"/0", found)
	}
	members, _ := s["properties"].(map[string]any)
	for name, member := range members {
		idMembers(d, member, at+"/"+name, found)
	}
}

// beside are members that a body needs, or must not have, for a member with an id to count. A nil value takes a member
// away.
var beside = map[string]Object{
	"createReviewLink /factory_id":              {"content_item_ids": nil},
	"setFeed /source/media_id":                  {"source": nil, "schedule": "manual"},
	"createChat /profile_id":                    {"factory_id": nil},
	"verifyProvenance /media_id":                {"url": nil},
	"addProductPhoto /media_id":                 {"source_url": nil, "mime_type": nil, "bytes": nil, "sha256": nil},
	"validatePublishing /content_item_id":       {"item": nil},
	"bulkPublishing /content_plan_id":           {"content_item_ids": nil},
	"connectIntegration /integration_id":        {"kind": nil, "webhook_url": nil, "domain": nil},
	"createContentItem /social_account_ids/0":   {"publish_at": "2027-01-15T09:30:00Z"},
	"createEstimate /comment_id":                {"operation": "updateComment", "body": Object{"suggest_reply": true}},
	"createEstimate /content_item_id":           {"operation": "regenerateContentItem", "body": Object{}},
	"createEstimate /factory_id":                {"operation": "startTraining", "body": Object{}},
	"createEstimate /body/factory_id":           {"operation": "createContentItem", "body": post},
	"createEstimate /body/experiment_id":        {"operation": "createContentItem", "body": post},
	"createEstimate /body/from_content_item_id": {"operation": "createContentItem", "body": post},
	"createEstimate /body/product_id":           {"operation": "createContentItem", "body": post},
	"createEstimate /body/profile_id":           {"operation": "createImage", "body": Object{"prompt": "A shoe"}},
	"createEstimate /body/social_account_ids/0": {"operation": "createContentItem", "body": Object{"factory_id": "",
		"kind": "post", "prompt": "A shoe made of nets", "publish_at": "2027-01-15T09:30:00Z"}},
}

// post is the body of a content item whose factory is that of the world.
var post = Object{"factory_id": "", "kind": "post", "prompt": "A shoe made of nets"}

// otherwise are the members whose ids are answered in another way, with the reason.
var otherwise = map[string]string{
	"bulkPublishing /items/0/content_item_id":          "the result of the item says it",
	"bulkPublishing /items/0/social_account_ids/0":     "the result of the item says it",
	"bulkPublishing /social_account_ids/0":             "the result of each item says it",
	"createContentItem /promotion_id":                  "it is one of the product's: see the test of products",
	"createContentItems /items/0/promotion_id":         "as of createContentItem",
	"createContentItems /items/0/social_account_ids/0": "as of createContentItem",
	"createContentPlan /product_ids/0":                 "it is for sellers: see the test of plans",
	"createPlanTopic /product_id":                      "it is for sellers: see the test of plans",
	"updatePlanTopic /product_id":                      "it is for sellers: see the test of plans",
	"updateProduct /photo_ids/0":                       "it is a list of all photos of the product, in another order",
	"createEstimate /body/from_experiment_ids/0":       "as of createContentPlan",
	"createEstimate /body/product_ids/0":               "as of createContentPlan",
	"createEstimate /body/promotion_id":                "as of createContentItem",
	"createEstimate /body/quote_id":                    "no estimate uses a quote",
	"validatePublishing /item/experiment_id":           "a problem of the answer says it",
	"syncFeed /confirm_run_id":                         "it names the last run of the feed",
	"validatePublishing /item/factory_id":              "a problem of the answer says it",
	"validatePublishing /item/from_content_item_id":    "a problem of the answer says it",
	"validatePublishing /item/product_id":              "a problem of the answer says it",
	"validatePublishing /item/promotion_id":            "a problem of the answer says it",
	"validatePublishing /item/social_account_ids/0":    "a problem of the answer says it",
	"validatePublishing /social_account_ids/0":         "a problem of the answer says it",
}

// An id that names nothing is not_found wherever a body has it, and the error names the member.
func TestIDsOfNobodyInBodiesAreNotFound(t *testing.T) {
	d, err := answers.Read()
	if err != nil {
		t.Fatal(err)
	}
	w := filled(t)
	tried := 0
	for _, o := range d.Operations() {
		described := d.At("paths", o.Path, strings.ToLower(o.Method))
		body, ok := described["requestBody"].(map[string]any)
		if !ok {
			continue
		}
		found := map[string]string{}
		content := body["content"].(map[string]any)
		for _, of := range content {
			idMembers(d, of.(map[string]any)["schema"], "", found)
		}
		for _, at := range slices.Sorted(maps.Keys(found)) {
			name := o.OperationID + " " + at
			if otherwise[name] != "" {
				continue
			}
			r, err := w.Prepare(t.Context(), o.OperationID)
			if err != nil {
				t.Fatal(err)
			}
			r.Body = with(t, r.Body, at, id.New(found[at], w.Now()), beside[name])
			if body, ok := r.Body.(map[string]any)["body"].(map[string]any); ok && body["factory_id"] == "" {
				body["factory_id"] = w.factory
			}
			a, err := w.Send(t.Context(), r)
			if err != nil {
				t.Fatal(err)
			}
			var got struct {
				Error struct{ Code, Param, Message string }
			}
			_ = json.Unmarshal([]byte(a.Body), &got)
			if tried++; a.Status != 404 || got.Error.Param != at {
				t.Errorf("%s: %d %s at %q: %s", name, a.Status, got.Error.Code, got.Error.Param, got.Error.Message)
			}
		}
	}
	if tried < 30 {
		t.Errorf("only %d members have ids", tried)
	}
}

// with returns a body that has an id at a pointer, and other members.
func with(t *testing.T, body any, at, value string, others Object) any {
	t.Helper()
	of := plain(t, body)
	if of == nil {
		of = map[string]any{}
	}
	for name, other := range others {
		if other == nil {
			delete(of.(map[string]any), name)
		} else {
			of.(map[string]any)[name] = plain(t, other)
		}
	}
	return put(of, strings.Split(at, "/")[1:], value)
}

// put sets a value at the place of a pointer, and makes what is missing on the way.
func put(of any, parts []string, value string) any {
	if len(parts) == 0 {
		return value
	}
	if parts[0] == "0" {
		list, _ := of.([]any)
		if len(list) == 0 {
			list = []any{nil}
		}
		list[0] = put(list[0], parts[1:], value)
		return list
	}
	object, ok := of.(map[string]any)
	if !ok {
		object = map[string]any{}
	}
	object[parts[0]] = put(object[parts[0]], parts[1:], value)
	return object
}

// plain returns a value as JSON has it.
func plain(t *testing.T, v any) (of any) {
	t.Helper()
	text, err := json.Marshal(v)
	if err == nil {
		err = json.Unmarshal(text, &of)
	}
	if err != nil {
		t.Fatal(err)
	}
	return of
}
