package mcp

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"
	"unicode/utf8"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/content-automation/api/clients"
	contentplan "github.com/content-automation/api/pkg/area/plan"
	"github.com/content-automation/api/pkg/auth"
	"github.com/content-automation/api/pkg/auth/signin"
	"github.com/content-automation/api/pkg/base/tenant"
)

// fake is the API: a function for each request.
type fake func(r *http.Request, body string) (status int, answer string)

// RoundTrip implements http.RoundTripper. A status of 0 means that the answer is lost.
func (f fake) RoundTrip(r *http.Request) (*http.Response, error) {
	body, _ := io.ReadAll(r.Body)
	status, answer := f(r, string(body))
	if status == 0 {
		return nil, errors.New("the connection broke")
	}
	header := http.Header{"Location": {"https://elsewhere.example/"}}
	if status == http.StatusTooManyRequests {
		header.Set("Retry-After", "7")
	}
	content := io.NopCloser(strings.NewReader(answer))
	return &http.Response{StatusCode: status, Header: header, Body: content, Request: r}, nil
}

func newKey(t *testing.T, mode tenant.Mode) string {
	t.Helper()
	key, err := auth.NewKey(mode, rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	return key
}

// use calls a tool of a server for one credential.
func use(t *testing.T, f fake, token, tool string, arguments any) (text string, failed bool) {
	t.Helper()
	s := newServer(time.Now, newCaller(&http.Client{Transport: f}, "https://api.example", token, ""))
	here, there := sdk.NewInMemoryTransports()
	if _, err := s.tools.Connect(t.Context(), there, nil); err != nil {
		t.Fatal(err)
	}
	session, err := sdk.NewClient(&sdk.Implementation{Name: "test", Version: "1"}, nil).Connect(t.Context(), here, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = session.Close() }()
	result, err := session.CallTool(t.Context(), &sdk.CallToolParams{Name: tool, Arguments: arguments})
	if err != nil {
		return err.Error(), true
	}
	text = result.Content[0].(*sdk.TextContent).Text
	if !result.IsError {
		s.fits(t, tool, result)
	}
	return text, result.IsError
}

// fits checks that the structured content of a result has the schema of its tool, and the data of the text.
func (s *server) fits(t *testing.T, tool string, result *sdk.CallToolResult) {
	t.Helper()
	resolved, err := outputSchema(s.outs[tool]).Resolve(nil)
	if err != nil {
		t.Fatal(err)
	}
	structured, _ := plain(result.StructuredContent).(object)
	var checked any
	if err := json.Unmarshal([]byte(encode(structured)), &checked); err != nil {
		t.Fatal(err)
	}
	if err := resolved.Validate(checked); err != nil {
		t.Errorf("%s: %v", tool, err)
	}
	text := result.Content[0].(*sdk.TextContent).Text
	said, data, _ := strings.Cut(text, "\n"+dataNotice+"\n"+dataBegins+"\n")
	if structured["message"] != said {
		t.Errorf("%s: the message is %q, the text %q", tool, structured["message"], said)
	}
	delete(structured, "message")
	if data = strings.TrimSuffix(data, "\n"+dataEnds); len(structured) > 0 && data != encode(structured) {
		t.Errorf("%s: the data differ:\n%s\n%s", tool, data, encode(structured))
	}
}

func ok(data string) string { return `{"data":` + data + `,"error":null,"request_id":"req_1"}` }

func TestACallIsRepeatedWithTheSameKey(t *testing.T) {
	var keys []string
	text, failed := use(t, func(r *http.Request, _ string) (int, string) {
		keys = append(keys, r.Header.Get("Idempotency-Key"))
		switch len(keys) {
		case 1:
			return 0, ""
		case 2:
			return 503, `{"data":null,"error":{"code":"provider_unavailable","message":"x"},"request_id":"r"}`
		}
		return 202, ok(`{"id":"gen_1","state":"generated"}`)
	}, newKey(t, tenant.Test), "studio_generate", object{"kind": "image", "prompt": "A shoe"})
	if failed || len(keys) != 3 || keys[0] == "" || keys[0] != keys[1] || keys[1] != keys[2] {
		t.Errorf("%v: %s", keys, text)
	}
	n := 0
	text, failed = use(t, func(*http.Request, string) (int, string) { n++; return 0, "" }, newKey(t, tenant.Test),
		"studio_generate",
		object{"kind": "image", "prompt": "A shoe"})
	if !failed || n != mostRepeats+1 || !strings.Contains(text, "at most once") {
		t.Errorf("%d calls: %s", n, text)
	}
}

func TestARefusalIsNotRepeated(t *testing.T) {
	n, token := 0, newKey(t, tenant.Test)
	text, failed := use(t, func(*http.Request, string) (int, string) {
		n++
		return 402, `{"data":null,"error":{"code":"insufficient_balance","message":"Too little for ` + token +
			`","context":{"required_credits":9}},"request_id":"req_9"}`
	}, token, "create_content", object{"factory_id": "fac_1", "kind": "post", "prompt": "x"})
	if n != 1 || !failed || strings.Contains(text, token) {
		t.Errorf("%d calls: %s", n, text)
	}
	for _, want := range []string{"insufficient_balance", "request_id: req_9.", "Next step: ", `"required_credits":9`} {
		if !strings.Contains(text, want) {
			t.Errorf("the error lacks %s: %s", want, text)
		}
	}
}

func TestTheCredentialIsSentToTheAPIAlone(t *testing.T) {
	var hosts []string
	_, failed := use(t, func(r *http.Request, _ string) (int, string) {
		hosts = append(hosts, r.URL.Host)
		return 307, ""
	}, newKey(t, tenant.Test), "list_factories", nil)
	if !failed || slices.Contains(hosts, "elsewhere.example") {
		// A redirect has no envelope, and is refused as an answer that cannot be read.
		t.Errorf("%v", hosts)
	}
}

func TestWrongArgumentsAreNamed(t *testing.T) {
	none := func(r *http.Request, _ string) (int, string) {
		t.Errorf("%s %s is called", r.Method, r.URL)
		return 500, ""
	}
	for _, one := range []struct {
		tool      string
		arguments object
		want      string
	}{
		{"create_content", object{"factory_id": "fac_1", "kind": "post", "promt": "x"}, "promt"},
		{"create_content", object{"factory_id": "fac_1", "kind": "poem", "prompt": "x"}, "poem"},
		{"create_content", object{"factory_id": "fac_1", "kind": "post", "prompt": "x", "wait_seconds": 26},
			"wait_seconds"},
		{"create_content", object{"factory_id": "fac_1", "kind": "post", "prompt": "x", "publish_at": "tomorrow"},
			"publish_at"},
		{"revise_content", object{"content_item_id": "cnt_1"}, "caption"},
		{"call_operation", object{"operation_id": "getContentItm"}, "getContentItem"},
		{"call_operation", object{"operation_id": "getContentItem", "path": object{"content_item_id": ".."}},
			"content_item_id"},
		{"call_operation", object{"operation_id": "getContentItem", "path": object{"id": "x"}}, "path.id"},
		{"call_operation", object{"operation_id": "getContentItem"}, "content_item_id"},
		{"call_operation", object{"operation_id": "invitePerson"}, "operation_id"},
		{"call_operation", object{"operation_id": "rotateApiKey", "path": object{"api_key_id": "x"}}, "API keys"},
		{"explain_error", object{"code": "invalid_stat"}, "invalid_state"},
	} {
		text, failed := use(t, none, newKey(t, tenant.Test), one.tool, one.arguments)
		if !failed || !strings.Contains(text, one.want) {
			t.Errorf("%s %v: %s", one.tool, one.arguments, text)
		}
	}
}

func TestAnIDStaysOneSegmentOfThePath(t *testing.T) {
	for id, want := range map[string]string{"cnt_1/publish": "/v1/content-items/cnt_1%2Fpublish",
		"..": "/v1/content-items/-",
		"":   "/v1/content-items/-", "a?b": "/v1/content-items/a%3Fb"} {
		if got := pathOf("content-items", id); got != want {
			t.Errorf("%q: %s", id, got)
		}
	}
}

func TestTheWaitIsBounded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		reads := 0
		f := fake(func(r *http.Request, _ string) (int, string) {
			if r.Method == http.MethodGet {
				reads++
			}
			return 202, ok(`{"id":"cnt_1","state":"generating"}`)
		})
		most := mostWait
		began := time.Now()
		token := newKey(t, tenant.Test)
		s := newServer(time.Now, newCaller(&http.Client{Transport: f}, "https://api.example", token, ""))
		out, err := create(t.Context(), call{s.onlyCaller, s, "key"}, createIn{FactoryID: "fac_1", Kind: "post", Prompt: "x",
			waitIn: waitIn{&most}})
		took := time.Since(began)
		if err != nil || took < 24*time.Second || took > 25*time.Second || reads > 8 ||
			!strings.Contains(out.text, "goes on") {
			t.Errorf("%v, %d reads, %v: %s", took, reads, err, out.text)
		}
		ctx, cancel := context.WithTimeout(t.Context(), 3*time.Second)
		defer cancel()
		out, err = create(ctx, call{s.onlyCaller, s, "key"}, createIn{FactoryID: "fac_1", Kind: "post", Prompt: "x"})
		if err != nil || !strings.Contains(out.text, "cnt_1") {
			t.Errorf("a wait that is cut off has no result: %v, %s", err, out.text)
		}
	})
}

func TestALargeResultIsCut(t *testing.T) {
	var list []string
	for range 100 {
		list = append(list, `{"id":"cnt_1","caption":"`+strings.Repeat("<é", 900)+`","state":"generated"}`)
	}
	text, failed := use(t, func(*http.Request, string) (int, string) {
		return 200, `{"data":[` + strings.Join(list, ",") + `],"next_cursor":"c","error":null,"request_id":"r"}`
	}, newKey(t, tenant.Test), "list_content", object{"limit": 50})
	data, _, ended := strings.Cut(strings.SplitN(text, dataBegins+"\n", 2)[1], "\n"+dataEnds)
	var read struct{ Elements []struct{ ID string } }
	if err := json.Unmarshal([]byte(data), &read); err != nil || failed || !ended ||
		utf8.RuneCountInString(text) > mostCharacters || len(read.Elements) < 10 {
		t.Errorf("%d bytes, %d elements, %v", len(text), len(read.Elements), err)
	}
	for all, most := range map[bool]int{false: mostCharacters, true: mostOfAll} {
		one := toolResult{text: "One.", data: object{"data": strings.Repeat("ж", 100_000), "list": []any{strings.Repeat("y",
			100_000)},
			"many": strings.Split(strings.Repeat("word,", 30_000), ",")}, all: all}.write()
		text := one.Content[0].(*sdk.TextContent).Text
		if n := utf8.RuneCountInString(text); n > most || n < most/2 || !strings.Contains(text, "left out") {
			t.Errorf("%d characters of %d", n, most)
		}
	}
}

func TestTimesWithoutAZoneAreThoseOfTheFactory(t *testing.T) {
	sent := ""
	for text, want := range map[string]string{
		"2027-03-28T02:30": "2027-03-28T01:30:00Z", "2027-10-31T02:30:15": "2027-10-31T00:30:15Z",
		"2027-01-15T09:00": "2027-01-15T08:00:00Z", "2027-07-15T09:00": "2027-07-15T07:00:00Z",
		"2027-01-15T09:00:00+03:00": "2027-01-15T06:00:00Z",
	} {
		_, failed := use(t, func(r *http.Request, body string) (int, string) {
			if r.Method == http.MethodPost {
				sent = body
			}
			return 200,
				ok(`{"id":"x","state":"generated","factory_id":"fac_1","schedule":{"timezone":"Europe/Berlin"}}`)
		}, newKey(t, tenant.Test), "schedule_or_publish", object{"content_item_id": "cnt_1", "when": text})
		if failed || sent != `{"publish_at":"`+want+`"}` {
			t.Errorf("%s: %s", text, sent)
		}
	}
}

func TestNewTextsOfAScheduledItemAreConfirmed(t *testing.T) {
	changed := false
	f := fake(func(r *http.Request, _ string) (int, string) {
		changed = changed || r.Method == http.MethodPatch
		return 200, ok(`{"id":"cnt_1","state":"scheduled"}`)
	})
	arguments := object{"content_item_id": "cnt_1", "caption": "Other words"}
	token := newKey(t, tenant.Live)
	text, _ := use(t, f, token, "revise_content", arguments)
	if changed || confirmationIn(text) == "" || !strings.Contains(text, "Other words") {
		t.Errorf("%v: %s", changed, text)
	}
	arguments["confirmation"] = confirmationIn(text)
	if text, _ = use(t, f, token, "revise_content", arguments); !changed {
		t.Errorf("nothing changed: %s", text)
	}
}

func TestTheKeyFollowsTheArguments(t *testing.T) {
	key := func(arguments string) string { return keyOf("create_content", json.RawMessage(arguments)) }
	first := key(`{"a":1,"b":"x"}`)
	for arguments, same := range map[string]bool{`{"b":"x","a":1,"confirmation":"x","wait_seconds":3}`: true,
		`{"a":1,"b":"y"}`:            false,
		`{"a":1,"b":"x","repeat":2}`: false} {
		if (key(arguments) == first) != same {
			t.Errorf("%s", arguments)
		}
	}
}

// Texts that are changed and changed back are changed each time.
func TestTextsAreChangedBack(t *testing.T) {
	caption, keys := "", 0
	f := fake(func(r *http.Request, body string) (int, string) {
		if r.Method == http.MethodPatch {
			caption = body
			if r.Header.Get("Idempotency-Key") != "" {
				keys++
			}
		}
		return 200, ok(`{"id":"cnt_1","state":"generated","approval":{"state":"pending"}}`)
	})
	token := newKey(t, tenant.Test)
	for _, text := range []string{"A", "B", "A"} {
		said, failed := use(t, f, token, "revise_content", object{"content_item_id": "cnt_1", "caption": text,
			"wait_seconds": 0})
		if failed || caption != `{"caption":"`+text+`"}` || !strings.Contains(said, "waits for an approval") {
			t.Errorf("%s: sent %s, said %s", text, caption, said)
		}
	}
	if keys > 0 {
		t.Errorf("%d of the changes had a key, by which a later one is a repeat", keys)
	}
}

// The types of content of a plan are those that the API takes.
func TestAPlanTakesTheTypesThatTheToolOffers(t *testing.T) {
	var taken []string
	for _, one := range contentplan.Types {
		taken = append(taken, one.Name)
	}
	for _, offered := range append(taken, "gif") {
		_, failed := use(t, func(*http.Request, string) (int, string) { return 202, ok(`{}`) }, newKey(t, tenant.Test),
			"plan_week", object{"factory_id": "fac_1", "content_types": []string{offered}})
		if failed == slices.Contains(taken, offered) {
			t.Errorf("%s: refused %t", offered, failed)
		}
	}
}

// Each variant of a body can be found, with the members that differ.
func TestAllVariantsOfABodyAreListed(t *testing.T) {
	for _, o := range operations() {
		if o.ID != "createFactory" {
			continue
		}
		for _, want := range []string{"blogger", "brand", "entertainment", "expert", "musician", "news", "seller"} {
			for _, p := range o.Body {
				if (p.Name == "type" || p.Name == "settings") && !strings.Contains(p.Type, want) {
					t.Errorf("%s has no %s: %s", p.Name, want, p.Type)
				}
			}
		}
	}
}

// TestEveryOperationCanBeFound compares the operations of agents with the document.
func TestEveryOperationCanBeFound(t *testing.T) {
	var d struct {
		Paths map[string]map[string]struct {
			ID string `json:"operationId"`
		}
	}
	if err := json.Unmarshal(clients.OpenAPIJSON, &d); err != nil {
		t.Fatal(err)
	}
	for path, item := range d.Paths {
		for method, o := range item {
			at := slices.IndexFunc(operations(), func(known operation) bool {
				return known.ID == o.ID && known.Path == path && strings.EqualFold(known.Method, method)
			})
			if hidden := forPeople[o.ID] || strings.HasPrefix(path, "/v1/people"); (at < 0) != hidden {
				t.Errorf("%s is found: %v", o.ID, at >= 0)
			}
			found, err := search(t.Context(), call{caller: &caller{}}, searchIn{o.ID})
			if at >= 0 && (err != nil || !strings.Contains(encode(found.data), `"operation_id":"`+o.ID+`"`)) {
				t.Errorf("a search for %s finds %s", o.ID, encode(found.data))
			}
			if text := found.write().Content[0].(*sdk.TextContent).Text; at >= 0 && strings.Contains(text,
				"were left out") {
				t.Errorf("a search for %s does not have all of it", o.ID)
			}
		}
	}
}

func TestPeopleSignInByTheIssuer(t *testing.T) {
	modes := []string{}
	api := fake(func(r *http.Request, _ string) (int, string) {
		modes = append(modes, r.Header.Get(auth.ModeHeader))
		if r.Header.Get("Authorization") != "Bearer eyJ.a.b" {
			return 401, `{"data":null,"error":{"code":"invalid_api_key","message":"No."},"request_id":"r"}`
		}
		return 200, ok(`{"key":{"scopes":["account:read"]}}`)
	})
	base := func(*http.Request) string { return "https://api.example" }
	h := New(Options{Base: base, HTTP: &http.Client{Transport: api}, Now: time.Now,
		SignIn: signin.Settings{Issuer: "https://issuer.example"}})
	send := func(method, path, token string, header ...string) *httptest.ResponseRecorder {
		req := httptest.NewRequestWithContext(t.Context(), method, "https://api.example"+path,
			strings.NewReader(`{"jsonrpc":"2.0","id":1,"method":"tools/list"}`))
		req.Header = http.Header{"Content-Type": {"application/json"},
			"Accept": {"application/json, text/event-stream"}}
		if token != "" {
			req.Header.Set("Authorization", "Bearer "+token)
		}
		for i := 0; i < len(header); i += 2 {
			req.Header.Set(header[i], header[i+1])
		}
		w := httptest.NewRecorder()
		h.ServeHTTP(w, req)
		return w
	}
	const at = MetadataPath + Path
	for _, token := range []string{"", "eyJ.x.y", "garbage", newKey(t, tenant.Test)} {
		w := send("POST", Path, token)
		want := `Bearer error="invalid_token", resource_metadata="https://api.example` + at + `", scope="`
		if token == "" { // without a credential there is no error to tell of (RFC 6750, 3.1)
			want = `Bearer resource_metadata="https://api.example` + at + `", scope="`
		}
		if w.Code != 401 || !strings.HasPrefix(w.Header().Get("WWW-Authenticate"), want) {
			t.Errorf("%q: %d, %v", token, w.Code, w.Header())
		}
	}
	var m struct {
		Resource string
		Servers  []string `json:"authorization_servers"`
	}
	if w := send("GET", at, ""); json.Unmarshal(w.Body.Bytes(), &m) != nil || m.Resource != "https://api.example/mcp" ||
		!slices.Equal(m.Servers, []string{"https://api.example"}) {
		t.Errorf("%s", w.Body)
	}
	modes = nil
	for _, mode := range []string{"", "live"} {
		header := []string{}
		if mode != "" {
			header = []string{auth.ModeHeader, mode}
		}
		if w := send("POST", Path, "eyJ.a.b", header...); w.Code != 200 || !strings.Contains(w.Body.String(),
			"account_overview") ||
			strings.Contains(w.Body.String(), "create_content") {
			t.Errorf("%q: %d, %s", mode, w.Code, w.Body)
		}
	}
	if send("POST", Path, "eyJ.a.b"); !slices.Equal(modes, []string{"test", "live", "test"}) {
		t.Errorf("the API was asked in the modes %v", modes)
	}
	if w := send("POST", Path, "eyJ.a.b", "Origin", "https://evil.example", "Sec-Fetch-Site",
		"cross-site"); w.Code != 403 ||
		!json.Valid(w.Body.Bytes()) {
		t.Errorf("another origin: %d, %s", w.Code, w.Body)
	}
}

func TestQueryOfAPage(t *testing.T) {
	got := pageIn{Limit: 90, Cursor: "c"}.query("state", "", "kind", "post")
	if want := (url.Values{"limit": {"50"}, "cursor": {"c"}, "kind": {"post"}}); got.Encode() != want.Encode() {
		t.Errorf("%v", got)
	}
}
