package mcp

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/content-automation/api/pkg/base/tenant"
)

// A token is reckoned as four characters.
const charactersOfToken = 4

// The list of the tools is in each conversation of an agent.
func TestTheListOfToolsIsShort(t *testing.T) {
	s := newServer(time.Now, newCaller(http.DefaultClient, "https://api.example", newKey(t, tenant.Test), ""))
	here, there := sdk.NewInMemoryTransports()
	if _, err := s.tools.Connect(t.Context(), there, nil); err != nil {
		t.Fatal(err)
	}
	session, err := sdk.NewClient(&sdk.Implementation{Name: "test", Version: "1"}, nil).Connect(t.Context(), here, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = session.Close() }()
	list, err := session.ListTools(t.Context(), nil)
	if err != nil {
		t.Fatal(err)
	}
	raw, err := json.Marshal(list)
	if n := utf8.RuneCount(raw) / charactersOfToken; err != nil || n > 4000 || len(list.Tools) < 19 {
		t.Errorf("%d tools have %d tokens, want at most 4000", len(list.Tools), n)
	} else {
		t.Logf("%d tools, %d tokens", len(list.Tools), n)
	}
	for _, tool := range list.Tools {
		input, output := plain(tool.InputSchema).(object), plain(tool.OutputSchema).(object)
		properties, _ := input["properties"].(object)
		for name, p := range properties {
			p := p.(object)
			if strings.HasSuffix(name, "_id") && name != "operation_id" &&
				!strings.Contains(fmt.Sprint(p["description"]), "_…") {
				t.Errorf("%s: %s does not say whose id it is", tool.Name, name)
			}
		}
		if members, _ := output["properties"].(object); members["message"] == nil {
			t.Errorf("%s has no schema of its result", tool.Name)
		}
	}
}

// page answers a list of content items of a month, each with the texts that items have.
func page(n int) fake {
	return func(r *http.Request, _ string) (int, string) {
		if strings.HasPrefix(r.URL.Path, "/v1/factories/") {
			return 200, ok(`{"id":"fac_1","schedule":{"timezone":"Europe/Berlin"}}`)
		}
		var list []string
		for i := range n {
			at := time.Date(2026, 12, 1+i%30, 8, 0, i/30, 0, time.UTC).Format("2006-01-02T15:04:05.000Z")
			list = append(list, fmt.Sprintf(`{"id":"cnt_01h455vb4pex5vsknk%04d","factory_id":"fac_01h455vb4pex5vsknk084sn02q",`+
				`"kind":"post","state":"generated","title":"%s","caption":"%s","prompt":"A shoe","publish_at":"%s",`+
				`"approval":{"state":"pending"},"media":[{"url":"https://x.example/%s"}],"failure":null,"waits_for":"approval"}`,
				i, strings.Repeat("Winter ", 12), strings.Repeat("caption ", 60), at, strings.Repeat("u", 600)))
		}
		return 200, `{"data":[` + strings.Join(list, ",") + `],"next_cursor":null,"error":null,"request_id":"r"}`
	}
}

// dataOf reads the data of a result.
func dataOf(t *testing.T, text string) object {
	t.Helper()
	_, data, _ := strings.Cut(text, dataBegins+"\n")
	var out object
	if err := json.Unmarshal([]byte(strings.TrimSuffix(data, "\n"+dataEnds)), &out); err != nil {
		t.Fatal(err, text)
	}
	return out
}

// A month of a factory fits a result, as a list and as a calendar.
func TestAMonthOfContentFits(t *testing.T) {
	for i, arguments := range []object{{"factory_id": "fac_1"}, {"factory_id": "fac_1", "calendar": true}, {"calendar": true}} {
		most := []int{20, 30, 30}[i]
		text, failed := use(t, page(most), newKey(t, tenant.Test), "list_content", arguments)
		n := strings.Count(text, "cnt_")
		if failed || n != most || utf8.RuneCountInString(text)/charactersOfToken > 1500 || strings.Contains(text, "left out") {
			t.Errorf("%v: %d items in %d characters", arguments, n, utf8.RuneCountInString(text))
		}
		t.Logf("%v: %d tokens", arguments, utf8.RuneCountInString(text)/charactersOfToken)
	}
	text, _ := use(t, page(30), newKey(t, tenant.Test), "list_content", object{"factory_id": "fac_1", "calendar": true})
	days, _ := dataOf(t, text)["days"].(object)
	first, _ := days["2026-12-01"].([]any)
	if want := "09:00 post (generated, approval pending) cnt_01h455vb4pex5vsknk0000 Winter Winter"; len(first) != 1 ||
		!strings.HasPrefix(first[0].(string), want) {
		t.Errorf("%v, want %s…", first, want)
	}
	text, _ = use(t, page(80), newKey(t, tenant.Test), "list_content", object{"calendar": true})
	shown := strings.Count(text, "cnt_")
	_, next, _ := strings.Cut(text, "repeat the call with from: ")
	if shown < 30 || shown >= 80 || !strings.HasPrefix(next, "2026-12-") {
		t.Errorf("of 80 items %d are shown, and the next is %.30s", shown, next)
	}
}

// Each filter of the list of content reaches the API.
func TestContentIsFiltered(t *testing.T) {
	sent := ""
	f := fake(func(r *http.Request, body string) (int, string) {
		if r.URL.Path == "/v1/content-items" {
			sent = r.URL.Query().Encode()
		}
		return page(1)(r, body)
	})
	_, failed := use(t, f, newKey(t, tenant.Test), "list_content", object{"factory_id": "fac_1", "content_plan_id": "pln_1",
		"approval": "pending,changes_requested", "kind": "post", "state": "generated", "from": "2026-12-01",
		"to": "2026-12-31T10:00:00+01:00"})
	if want := "approval=pending%2Cchanges_requested&content_plan_id=pln_1&factory_id=fac_1&kind=post&" +
		"publish_from=2026-11-30T23%3A00%3A00Z&publish_to=2026-12-31T09%3A00%3A00Z&state=generated"; failed || sent != want {
		t.Errorf("%s, want %s", sent, want)
	}
	if text, failed := use(t, f, newKey(t, tenant.Test), "list_content", object{"from": "December"}); !failed ||
		!strings.Contains(text, "2027-01-15") {
		t.Errorf("a month is no day: %s", text)
	}
}

// The sums of the period are said first, and days on which nothing happened are left out.
func TestAnalyticsHaveNoZeros(t *testing.T) {
	row := func(day string, views int) string {
		return fmt.Sprintf(`{"day":"%s","kind":null,"platform":null,"made":0,"failed":0,"published":%d,"views":%d,"likes":0}`,
			day, min(views, 1), views)
	}
	text, failed := use(t, func(*http.Request, string) (int, string) {
		rows := []string{}
		for day := range 30 {
			rows = append(rows, row(fmt.Sprintf("2026-11-%02d", day+1), day/28*250))
		}
		return 200, ok(`{"factory_id":"fac_1","from":"2026-11-01","to":"2026-11-30","timezone":"UTC","totals":{"made":0,` +
			`"published":2,"views":500,"likes":0},"comparison":null,"series":[` + strings.Join(rows, ",") + `]}`)
	}, newKey(t, tenant.Test), "analytics", object{"factory_id": "fac_1"})
	data := dataOf(t, text)
	if rows, _ := data["series"].([]any); failed || len(rows) != 2 || strings.Contains(text, ":0") ||
		!strings.HasPrefix(text, "From 2026-11-01 to 2026-11-30: published 2, views 500.") {
		t.Errorf("%s", text)
	}
}

// What is not there is an empty list, and no null.
func TestWhereNothingFailedThereAreNoNulls(t *testing.T) {
	text, failed := use(t, func(*http.Request, string) (int, string) {
		return 200, `{"data":[],"next_cursor":null,"error":null,"request_id":"r"}`
	}, newKey(t, tenant.Test), "failures", nil)
	if failed || strings.Contains(text, "null") || !strings.Contains(text, "No content item has failed.") ||
		!strings.Contains(text, `"content_items":[]`) {
		t.Errorf("%s", text)
	}
}

// Wrong arguments get a text that says what the tool takes, and no operation is called.
func TestWrongArgumentsSayWhatIsTaken(t *testing.T) {
	none := func(r *http.Request, _ string) (int, string) {
		t.Errorf("%s %s is called", r.Method, r.URL)
		return 500, ""
	}
	for _, one := range []struct {
		tool, want string
		arguments  any
	}{
		{"create_content", `create_content has no argument "promt": did you mean "prompt"?`, object{"promt": "x"}},
		{"create_content", "create_content needs kind: one of post, video, carousel, story, music_clip.",
			object{"factory_id": "fac_1"}},
		{"create_content", "create_content needs factory_id: factory: fac_….", object{"kind": "post"}},
		{"create_content", `kind: \"poem\" is not a known value. The values are post, video, carousel, story, music_clip.`,
			object{"factory_id": "fac_1", "kind": "poem"}},
		{"list_content", `limit must be a whole number, not \"ten\". It is: 1 to 50.`, object{"limit": "ten"}},
		{"list_content", "calendar must be true or false", object{"calendar": "yes"}},
		{"plan_week", "is not a known value; did you mean video? The values are post, video", object{"factory_id": "fac_1", "content_types": []string{"post", "reel"}}},
		{"revise_content", "hashtags must be a list", object{"content_item_id": "cnt_1", "hashtags": "a"}},
		{"call_operation", "path.factory_id must be a text", object{"operation_id": "getFactory", "path": object{"factory_id": []int{1}}}},
		{"call_operation", "Send fewer or shorter parameters", object{"operation_id": "listFactories",
			"query": object{"q": strings.Repeat("x", 8200)}}},
		{"account_overview", "account_overview takes no arguments.", object{"x": 1}},
		{"review_content", "Say in note what is to be changed",
			object{"content_item_id": "cnt_1", "decision": "request_changes"}},
		{"upload_media", "Send source_url, or mime_type, bytes and sha256", object{"mime_type": "image/png"}},
		{"upload_media", "send nothing else with it", object{"media_id": "med_1", "source_url": "https://x.example/a.png"}},
	} {
		text, failed := use(t, none, newKey(t, tenant.Test), one.tool, one.arguments)
		if !failed || !strings.Contains(strings.ReplaceAll(text, `\"`, `"`), strings.ReplaceAll(one.want, `\"`, `"`)) ||
			strings.Contains(text, "validating") || strings.Contains(text, "schema") {
			t.Errorf("%s %v: %s", one.tool, one.arguments, text)
		}
	}
	// A null is as good as nothing.
	if _, failed := use(t, page(1), newKey(t, tenant.Test), "list_content", object{"kind": nil}); failed {
		t.Error("a null is refused")
	}
}

// Agents send numbers for texts, and texts for numbers.
func TestNumbersAreTakenForTexts(t *testing.T) {
	seen := ""
	api := func(r *http.Request, body string) (int, string) {
		seen = r.Method + " " + r.URL.RequestURI() + " " + body
		return 200, ok(`[]`)
	}
	for _, one := range []struct {
		tool, want string
		arguments  any
	}{
		{"call_operation", "GET /v1/factories?limit=3", object{"operation_id": "listFactories",
			"query": object{"limit": 3}}},
		{"call_operation", "GET /v1/factories?state=active%2Cpaused", object{"operation_id": "listFactories",
			"query": object{"state": []string{"active", "paused"}}}},
		{"call_operation", "GET /v1/factories/7", object{"operation_id": "getFactory",
			"path": object{"factory_id": 7}}},
		{"call_operation", `{"name":"7","spend_limit_credits":500}`, object{"operation_id": "createProfile",
			"body": object{"name": 7, "spend_limit_credits": "500"}}},
		{"list_factories", "limit=3", object{"limit": "3"}},
	} {
		if text, failed := use(t, api, newKey(t, tenant.Test), one.tool, one.arguments); failed ||
			!strings.Contains(seen, one.want) {
			t.Errorf("%v: %s, %s", one.arguments, seen, text)
		}
	}
}

// A figure that no platform has told is null. It is no text.
func TestAnalyticsHaveNoNulls(t *testing.T) {
	text, failed := use(t, func(*http.Request, string) (int, string) {
		return 200, ok(`{"from":"2026-11-01","to":"2026-11-30","totals":{"clicks":null,"made":7},"series":[]}`)
	}, newKey(t, tenant.Test), "analytics", object{"factory_id": "fac_1"})
	if failed || !strings.HasPrefix(text, "From 2026-11-01 to 2026-11-30: made 7.") || strings.Contains(text, "nil") ||
		strings.Contains(text, "null") {
		t.Errorf("%s", text)
	}
}

// The times of a plan are in the zone of its factory.
func TestTimesAreInTheZoneOfTheFactory(t *testing.T) {
	for _, in := range []object{{"content_plan_id": "pln_1"}, {}, {"content_plan_id": "pln_1", "calendar": true},
		{"factory_id": "fac_1"}} {
		text, failed := use(t, func(r *http.Request, _ string) (int, string) {
			factory := `{"id":"fac_1","schedule":{"timezone":"Europe/Vienna"}}`
			switch r.URL.Path {
			case "/v1/factories":
				return 200, ok("[" + factory + "]")
			case "/v1/factories/fac_1":
				return 200, ok(factory)
			}
			return 200, ok(`[{"id":"cnt_1","factory_id":"fac_1","kind":"post","state":"scheduled",` +
				`"publish_at":"2026-12-01T07:00:00Z"}]`)
		}, newKey(t, tenant.Test), "list_content", in)
		if failed || !strings.Contains(text, "Europe/Vienna") || !strings.Contains(text, "08:00") {
			t.Errorf("%v: %s", in, text)
		}
	}
}
