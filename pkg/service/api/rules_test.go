package api_test

import (
	"encoding/json"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/content-automation/api/pkg/service/api"
)

// contract is the document, as far as the rules on lists and changes need it.
type contract struct {
	Paths      map[string]map[string]json.RawMessage
	Components struct {
		Parameters map[string]parameter
		Responses  map[string]answer
		Schemas    map[string]schema
	}
}

type parameter struct {
	Ref         string `json:"$ref"`
	Name, In    string
	Description string
	Schema      schema
}

type schema struct {
	Ref         string `json:"$ref"`
	Format      string
	Description string
	Properties  map[string]schema
	Items       *schema
	AllOf       []schema
}

type answer struct {
	Ref     string `json:"$ref"`
	Content map[string]struct{ Schema schema }
}

type described struct {
	OperationID string
	Parameters  []parameter
	Responses   map[string]answer
}

func last(ref string) string { return ref[strings.LastIndexByte(ref, '/')+1:] }

// whole follows the references of a schema, and merges its parts.
func (c *contract) whole(s schema) schema {
	for s.Ref != "" {
		s = c.Components.Schemas[last(s.Ref)]
	}
	all := map[string]schema{}
	for _, part := range s.AllOf {
		maps.Copy(all, c.whole(part).Properties)
	}
	maps.Copy(all, s.Properties)
	s.Properties = all
	return s
}

// call is an operation of the document.
type call struct {
	id, method, path string
	parameters       map[string]parameter
	success          answer
}

func calls(t *testing.T) (c contract, all []call) {
	t.Helper()
	text, err := json.Marshal(api.Document())
	if err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(text, &c); err != nil {
		t.Fatal(err)
	}
	for _, path := range slices.Sorted(maps.Keys(c.Paths)) {
		for _, method := range []string{"get", "post", "put", "patch", "delete"} {
			raw, ok := c.Paths[path][method]
			if !ok {
				continue
			}
			var d described
			if err := json.Unmarshal(raw, &d); err != nil {
				t.Fatal(err)
			}
			one := call{d.OperationID, method, path, map[string]parameter{}, answer{}}
			for _, p := range d.Parameters {
				if p.Ref != "" {
					p = c.Components.Parameters[last(p.Ref)]
				}
				one.parameters[p.Name] = p
			}
			for status, a := range d.Responses {
				if strings.HasPrefix(status, "2") {
					if a.Ref != "" {
						a = c.Components.Responses[last(a.Ref)]
					}
					one.success = a
				}
			}
			all = append(all, one)
		}
	}
	return c, all
}

// unfiltered are members of resources by which their lists have no filter, with the reason.
var unfiltered = map[string]string{
	"listAccountMetrics platform":         "it is of one account, which has a platform",
	"listApiKeys state":                   "it follows from the clock, and an account has few keys",
	"listBalanceEntries state":            "kind says as much: a reservation that is open is followed by its end",
	"listBalanceEntries metadata":         "an entry is found by its factory, profile or subject, whose metadata it copies",
	"listDrafts content_item_id":          "it is set once the draft is applied",
	"listFeedRuns profile_id":             "the path names the factory, which has one profile",
	"listExperimentPosts state":           "the list is that of one experiment, of up to 1,000 posts",
	"listExperimentPosts kind":            "the list is that of one experiment, of up to 1,000 posts",
	"listExperimentPosts content_item_id": "the list is that of one experiment, of up to 1,000 posts",
	"listModels state":                    "a model that is retired has left the list",
	"listModels profile_id":               "provider=own lists the fine-tuned ones",
	"listProposals profile_id":            "the path names the factory, which has one profile",
	"listModels factory_id":               "provider=own lists the fine-tuned ones",
	"listProposals metadata":              "nobody gives a proposal metadata",
	"listPeople metadata":                 "a team is short",
	"listPublications metadata":           "nobody gives a publication metadata",
	"listPublications platform":           "an item has up to 15 publications",
	"listPublications social_account_id":  "an item has up to 15 publications",
	"listPublications state":              "an item has up to 15 publications",
	"listDeliveries metadata":             "nobody gives a delivery metadata",
}

// Every list has a filter for each member by which callers tell their clients and their work apart.
func TestListsHaveTheirFilters(t *testing.T) {
	c, all := calls(t)
	lists, used := 0, map[string]bool{}
	for _, o := range all {
		if _, pages := o.parameters["limit"]; o.method != "get" || !pages {
			continue
		}
		lists++
		data := c.whole(o.success.Content["application/json"].Schema).Properties["data"]
		if data.Items == nil {
			t.Errorf("%s answers no list", o.id)
			continue
		}
		of := c.whole(*data.Items).Properties
		wanted := []string{"profile_id", "factory_id", "state", "kind", "type", "platform", "social_account_id",
			"content_item_id", "metadata"}
		if _, ok := of["factory_id"]; ok {
			of["profile_id"] = schema{} // a factory may belong to a profile, and so does what it has
		}
		for _, name := range wanted {
			if _, has := of[name]; !has {
				continue
			}
			at := o.id + " " + name
			_, filters := o.parameters[name]
			switch used[at] = true; {
			case !filters && unfiltered[at] == "":
				t.Errorf("%s has no filter by %s", o.id, name)
			case filters && unfiltered[at] != "":
				t.Errorf("%s has the filter by %s: take it from the exceptions", o.id, name)
			}
		}
	}
	for at := range unfiltered {
		if !used[at] {
			t.Errorf("the exception %q is of no list", at)
		}
	}
	if lists < 30 {
		t.Errorf("only %d lists", lists)
	}
}

// unconditional are changes below a path with an id that take no If-Match, with the reason.
var unconditional = map[string]string{
	"sendMessage":       "a message is added, and changes nothing that was read",
	"createContentPlan": "a plan is created; replace guards the one before",
	"createPlanTopic":   "a topic is created",
	"diagnoseFactory":   "a diagnosis is created",
	"startTraining":     "a training is created, one at a time",
	"addProductPhoto":   "a photo is created",
	"syncFeed":          "a run is created, one at a time",
	"redeliver":         "a delivery has no version, and sending it twice is harmless",
	"replayEvents":      "deliveries have no version",
	"testWebhook":       "a delivery is created",
}

// Every change of a resource that has a version takes If-Match.
func TestChangesTakeIfMatch(t *testing.T) {
	_, all := calls(t)
	changes := 0
	for _, o := range all {
		if o.method == "get" || !strings.Contains(o.path, "{") {
			continue
		}
		changes++
		_, takes := o.parameters["If-Match"]
		switch why := unconditional[o.id]; {
		case !takes && why == "":
			t.Errorf("%s takes no If-Match", o.id)
		case takes && why != "":
			t.Errorf("%s takes If-Match: take it from the exceptions", o.id)
		}
	}
	if changes < 50 {
		t.Errorf("only %d changes", changes)
	}
}

// A period has its beginning. It ends before a time, and with the whole of a day: the descriptions say which it is.
func TestPeriodsSayTheirEnds(t *testing.T) {
	_, all := calls(t)
	found := 0
	for _, o := range all {
		for _, name := range []string{"from", "to", "publish_from", "publish_to"} {
			p, ok := o.parameters[name]
			if !ok || p.In != "query" {
				continue
			}
			found++
			says := strings.ToLower(p.Description)
			want := map[bool][]string{true: {"this time or later", "before this time"},
				false: {"first day", "last day"}}[p.Schema.Format == "date-time"]
			end := strings.HasSuffix(name, "to")
			if !end && !strings.Contains(says, want[0]) || end && !strings.Contains(says, want[1]) {
				t.Errorf("%s: %s does not say whether it belongs to the period: %q", o.id, name, p.Description)
			}
			if end && p.Schema.Format != "date-time" && !strings.Contains(says, "included") {
				t.Errorf("%s: %s does not say that the day is included: %q", o.id, name, p.Description)
			}
		}
	}
	if found < 25 {
		t.Errorf("only %d bounds of periods", found)
	}
}
