package api

import (
	"encoding/json"
	"path"
	"strings"
	"testing"

	"github.com/danielgtaylor/huma/v2"
)

// The document is read by browsers, agents and generators. What it describes twice makes it large.
const mostBytes = 1_300_000

// written returns the document as it is written, and its size.
func written(t *testing.T) (doc tree, size int) {
	t.Helper()
	text, err := JSON(Document())
	if err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(text, &doc); err != nil {
		t.Fatal(err)
	}
	return doc, len(text)
}

func TestTheDocumentIsSmall(t *testing.T) {
	if _, size := written(t); size > mostBytes {
		t.Errorf("the document has %d bytes, more than %d", size, mostBytes)
	}
}

// Generators make no type, or one that does not compile, of null alone, and an enumeration of the values of booleans
// is none in Java.
func TestGeneratorsHaveATypeForEachMember(t *testing.T) {
	alternatives := map[*huma.Schema]bool{}
	doc := Document()
	eachSchema(doc, func(_, _ string, s *huma.Schema) {
		for _, part := range s.AnyOf {
			alternatives[part] = true
		}
	})
	eachSchema(doc, func(at, member string, s *huma.Schema) {
		if s.Type == "null" && !alternatives[s] {
			t.Errorf("%s of %s is null alone", member, at)
		}
		if s.Type == huma.TypeBoolean && len(s.Enum) > 0 {
			t.Errorf("%s of %s is an enumeration of booleans", member, at)
		}
	})
}

// Go has a function NewX for each type X that a generator makes.
func TestNoSchemaHasTheNameOfAConstructor(t *testing.T) {
	schemas := Document().Components.Schemas.Map()
	for name := range schemas {
		if of, is := strings.CutPrefix(name, "New"); is && schemas[of] != nil {
			t.Errorf("%s is the constructor of %s in Go", name, of)
		}
	}
}

// A generator takes operations in the section webhooks for those of the service, and writes the file of one tag twice.
func TestRequestsToReceiversAreComponents(t *testing.T) {
	doc, _ := written(t)
	items := components(doc)["pathItems"].(tree)
	for event, item := range doc["webhooks"].(tree) {
		ref, _ := item.(tree)["$ref"].(string)
		if items[path.Base(ref)] == nil || len(item.(tree)) != 1 {
			t.Errorf("%s is %v", event, item)
		}
	}
	if len(items) < 30 {
		t.Errorf("there are %d", len(items))
	}
}

// What operations have alike stands among the components.
func TestOperationsHaveNothingTwice(t *testing.T) {
	doc, _ := written(t)
	for _, section := range []string{"parameters", "responses"} {
		if n := len(components(doc)[section].(tree)); n < 25 {
			t.Errorf("%d %s are shared", n, section)
		}
	}
	seen := map[string]string{}
	for _, o := range operationsIn(doc) {
		for status, response := range o["responses"].(tree) {
			text, err := json.Marshal(response)
			if err != nil {
				t.Fatal(err)
			}
			if id, known := seen[string(text)]; known && len(text) > 200 && status >= "400" {
				t.Errorf("%s and %s have the same response %s", id, o["operationId"], status)
			}
			seen[string(text)], _ = o["operationId"].(string)
		}
	}
}

// What schemas have alike is described once: a member does not repeat what the schema that it refers to says, and an
// answer that begins with another one refers to it.
func TestSchemasHaveNothingTwice(t *testing.T) {
	doc := Document()
	schemas := doc.Components.Schemas.Map()
	eachSchema(doc, func(at, member string, s *huma.Schema) {
		if of := schemas[path.Base(s.Ref)]; member != "" && of != nil && of.Description == s.Description {
			t.Errorf("%s of %s repeats the description of %s", member, at, s.Ref)
		}
	})
	for name, of := range map[string]string{"WebhookWithSecret": "Webhook", "ExperimentDetails": "Experiment",
		"WebhookResponse": "ResponseBase", "WebhookList": "ListBase", "UnauthorizedResponse": "ErrorResponseBase"} {
		if parts := schemas[name].AllOf; len(parts) != 2 || path.Base(parts[0].Ref) != of {
			t.Errorf("%s is not made of %s", name, of)
		}
	}
}

// The first example of a status is the usual one: servers of mock answers send it.
func TestTheUsualErrorComesFirst(t *testing.T) {
	text, err := JSON(Document())
	if err != nil {
		t.Fatal(err)
	}
	for _, first := range []string{`"examples":{"validation_failed":`, `"examples":{"invalid_api_key":`,
		`"examples":{"rate_limited":`, `"examples":{"insufficient_scope":`} {
		if !strings.Contains(string(text), first) {
			t.Errorf("no response begins with %s", first)
		}
	}
	for _, not := range []string{`"examples":{"idempotency_key_reused":`, `"examples":{"idempotency_in_progress":{"$ref":` +
		`"#/components/examples/idempotency_in_progress"},"`, `"examples":{"invalid_header":{"$ref":` +
		`"#/components/examples/invalid_header"},"malformed_json"`} {
		if strings.Contains(string(text), not) {
			t.Errorf("a response begins with %s", not)
		}
	}
}

// A body that the service would refuse for what it lacks does not fit its schema.
func TestBodiesSayWhatTheyNeed(t *testing.T) {
	schema := schemas(t)
	for _, c := range []struct {
		name, body string
		fits       bool
	}{
		{"WebhookCreate", `{"event_types":["*"]}`, false},
		{"WebhookCreate", `{"event_types":["*"],"url":"https://a.example"}`, true},
		{"ReviewLinkCreate", `{}`, false},
		{"ReviewLinkCreate", `{"factory_id":"fac_01h455vb4pex5vsknk084sn02q"}`, true},
		{"PublishingValidate", `{}`, false},
		{"OwnMediaCreate", `{}`, false},
		{"OwnMediaCreate", `{"source_url":"https://a.example/a.png"}`, true},
		{"ProductPhotoCreate", `{}`, false},
		{"StudioAvatarCreate", `{}`, false},
		{"StudioAvatarCreate", `{"text":"Hello"}`, true},
		{"AutomationTriggerInput", `{"kind":"feed"}`, false},
		{"AutomationTriggerInput", `{"kind":"time","url":"https://a.example","cron":"0 9 * * *"}`, false},
		{"AutomationTriggerInput", `{"kind":"product"}`, true},
		{"ContentItemBulkCreate", `{"action":"approve"}`, false},
		{"ContentItemBulkCreate", `{"action":"approve","content_item_ids":["cnt_01h455vb4pex5vsknk084sn02q"]}`, true},
		{"ContentItemBulkCreate", `{"action":"publish","content_plan_id":"pln_01h455vb4pex5vsknk084sn02q"}`, false},
		{"ContentItemBulkCreate", `{"action":"publish","note":"n","content_item_ids":["cnt_01h455vb4pex5vsknk084sn02q"]}`,
			false},
		{"SocialAccountConnect", `{}`, false},
		{"SocialAccountConnect", `{"platform":"instagram","bot_token":"1:a"}`, false},
		{"SocialAccountConnect", `{"platform":"telegram","bot_token":"1:a"}`, false},
		{"SocialAccountConnect", `{"platform":"telegram","bot_token":"1:a","channel":"@a"}`, true},
		{"SocialAccountConnect", `{"platform":"rutube"}`, false},
		{"SocialAccountConnect", `{"platform":"vk","community_token":"a"}`, true},
		{"SocialApplicationCreate", `{"platform":"vk","client_id":"a","client_secret":"b"}`, false},
		{"SocialApplicationCreate", `{"platform":"tiktok","client_id":"a"}`, false},
		{"IntegrationConnect", `{}`, false},
		{"ContentItemCreate", `{"factory_id":"fac_01h455vb4pex5vsknk084sn02q","kind":"post"}`, false},
		{"ContentItemCreate", `{"factory_id":"fac_01h455vb4pex5vsknk084sn02q","kind":"post","prompt":"p"}`, true},
		{"ContentItemCreate", `{"factory_id":"fac_01h455vb4pex5vsknk084sn02q","kind":"post","prompt":"p","music":"none"}`,
			false},
		{"ContentItemCreate", `{"factory_id":"fac_01h455vb4pex5vsknk084sn02q","kind":"post","prompt":"p","fit":"pad"}`, false},
	} {
		if err := schema("components", "schemas",
			c.name).Validate(instance(t, []byte(c.body))); (err == nil) != c.fits {
			t.Errorf("%s as %s: %v", c.body, c.name, err)
		}
	}
}
