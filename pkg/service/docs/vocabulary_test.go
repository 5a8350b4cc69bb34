package docs_test

import (
	"crypto/rand"
	"encoding/json"
	"io/fs"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"path"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/content-automation/api/clients"
	"github.com/content-automation/api/pkg/auth"
	"github.com/content-automation/api/pkg/base/tenant"
	public "github.com/content-automation/api/pkg/service/api"
	"github.com/content-automation/api/pkg/service/mcp"
)

// vocabulary has what the document names.
type vocabulary struct {
	words map[string]bool            // members, parameters, values of enumerations, schemas, operations, events, codes
	takes map[string]map[string]bool // names of the query parameters by operation: "GET /v1/events"
}

// collect adds the names that a part of the document has: those of its members and parameters, and its constants.
func (v *vocabulary) collect(part any) {
	switch p := part.(type) {
	case []any:
		for _, one := range p {
			v.collect(one)
		}
	case map[string]any:
		for name, value := range p {
			v.collect(value)
			switch texts := value.(type) {
			case map[string]any:
				if slices.Contains([]string{"properties", "schemas", "webhooks", "headers", "mapping"}, name) {
					for member := range texts {
						v.words[member] = true
					}
				}
			case []any:
				if name == "enum" || name == "x-extensible-enum" {
					for _, text := range texts {
						if text, ok := text.(string); ok {
							v.words[text] = true
						}
					}
				}
			case string:
				if name == "description" { // codes that are no enumeration
					for _, word := range regexp.MustCompile(`[a-z]+(?:_[a-z]+)+`).FindAllString(texts, -1) {
						v.words[word] = true
					}
				}
				if name == "const" || name == "operationId" || name == "name" && p["in"] != nil {
					v.words[texts] = true
				}
			}
		}
	}
}

// read reads the document of the API.
func read(t *testing.T) vocabulary {
	t.Helper()
	var document map[string]any
	if err := json.Unmarshal(clients.OpenAPIJSON, &document); err != nil {
		t.Fatal(err)
	}
	v := vocabulary{map[string]bool{}, map[string]map[string]bool{}}
	v.collect(document)
	parameters, _ := document["components"].(map[string]any)["parameters"].(map[string]any) // there may be none
	for at, item := range document["paths"].(map[string]any) {
		for method, operation := range item.(map[string]any) {
			names := map[string]bool{}
			declared, _ := operation.(map[string]any)["parameters"].([]any)
			for _, p := range declared {
				p := p.(map[string]any)
				if ref, ok := p["$ref"].(string); ok {
					p = parameters[path.Base(ref)].(map[string]any)
				}
				if p["in"] == "query" {
					names[p["name"].(string)] = true
				}
			}
			v.takes[strings.ToUpper(method)+" "+at] = names
		}
	}
	v.tools(t)
	return v
}

// tools adds the tools of agents with their arguments, and the paths without a key.
func (v *vocabulary) tools(t *testing.T) {
	t.Helper()
	api := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		_, _ = w.Write([]byte(`{"data":{"key":{"scopes":[]}},"error":{"code":"insufficient_scope"}}`))
	}))
	defer api.Close()
	key, err := auth.NewKey(tenant.Test, rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	base := func(*http.Request) string { return api.URL }
	server := mcp.New(mcp.Options{Base: base, HTTP: api.Client(), Now: time.Now})
	req := httptest.NewRequestWithContext(t.Context(), "POST", mcp.Path,
		strings.NewReader(`{"jsonrpc":"2.0","id":1,"method":"tools/list"}`))
	req.Header = http.Header{"Authorization": {"Bearer " + key}, "Content-Type": {"application/json"},
		"Accept": {"application/json, text/event-stream"}}
	w := httptest.NewRecorder()
	server.ServeHTTP(w, req)
	var list struct {
		Result struct {
			Tools []struct {
				Name        string
				InputSchema struct{ Properties map[string]any }
			}
		}
	}
	if err := json.Unmarshal(w.Body.Bytes(), &list); err != nil || len(list.Result.Tools) < 14 {
		t.Fatalf("%v: %s", err, w.Body)
	}
	for _, tool := range list.Result.Tools {
		v.words[tool.Name] = true
		for argument := range tool.InputSchema.Properties {
			v.words[argument] = true
		}
	}
	for _, r := range slices.Concat(public.PublicRoutes, public.GuardedRoutes) {
		v.words[strings.TrimPrefix(r.Path, "/")] = true
	}
}

var (
	request = regexp.MustCompile(`^(GET|POST|PUT|PATCH|DELETE) (/\S+?|…/\S+?)(?:\?(\S+))?$`)
	// name is a name as the document has them, or several after each other: failure.code.
	name = regexp.MustCompile(`^/?[a-z][a-z0-9]*(?:_[a-z0-9]+)*(?:[./][a-z][a-z0-9_]*)*(?:\.\*)?$`)
	// pair is a name with a value, as in a query or a body.
	pair = regexp.MustCompile(`^([a-z_]+)(?:: ?|=)(.*)$`)
	// elsewhere are files, and requests to the local system, which the document does not describe.
	elsewhere = regexp.MustCompile(`^(build/\S+|[a-z_.]+\.(js|mjs|ts|py|go|env|json|yaml)|GET /_\S+)$`)
	header    = regexp.MustCompile(`^[A-Z][A-Za-z]+(?:-[A-Za-z]+)+(?:: .*)?$`)
)

// notOfTheDocument are words that the guides name and that the document does not have.
var notOfTheDocument = map[string]string{
	"id.timestamp.body": "what is signed", "null": "a value of JSON", "true": "a value of JSON", "false": "a value of JSON",
	"q": "a part of RateLimit", "w": "a part of RateLimit", "r": "a part of RateLimit", "t": "a part of RateLimit",
	"Accept-Encoding": "a header of HTTP", "Content-Encoding": "a header of HTTP", "curl": "a command", "de": "a language",
	"photo_url":             "a column of the importer",
	"build/sandbox/sandbox": "a program", "http": "a scheme", "items.test.js": "a file", "test_items.py": "a file",
	"access_denied": "an error of a login", "platform_refused": "an error of a login",
	"another_account": "an error of a login", "no_channel": "an error of a login",
}

// operation reports whether the document has an operation, which may be named by the end of its path.
func (v *vocabulary) operation(method, at string) (name string, found bool) {
	for known := range v.takes {
		of, path, _ := strings.Cut(known, " ")
		tail, short := strings.CutPrefix(at, "…")
		if of == method && (path == at || short && strings.HasSuffix(path, tail)) {
			return known, true
		}
	}
	return "", false
}

// known reports whether the document has a word, or each of the words that dots join.
func (v *vocabulary) known(word string) bool {
	word = strings.TrimPrefix(word, "/")
	if _, ok := notOfTheDocument[word]; ok || v.words[word] || v.takes["GET /"+word] != nil {
		return true
	}
	parts := strings.FieldsFunc(word, func(r rune) bool { return r == '.' || r == '/' })
	return len(parts) > 1 && !slices.ContainsFunc(parts, func(p string) bool { return !v.words[p] })
}

// unknown returns the words of a code span that the document does not have.
func (v *vocabulary) unknown(span string) (words []string) {
	miss := func(word string, known bool) {
		if !known {
			words = append(words, word)
		}
	}
	if strings.Contains(span, "://") || elsewhere.MatchString(span) {
		return nil
	}
	if m := request.FindStringSubmatch(span); m != nil {
		of, found := v.operation(m[1], m[2])
		if miss(m[1]+" "+m[2], found); m[3] == "" || !found {
			return words
		}
		query, err := url.ParseQuery(m[3])
		miss(m[3], err == nil)
		for param := range query {
			param, _, _ = strings.Cut(param, "[")
			miss("?"+param, v.takes[of][param])
		}
		return words
	}
	if strings.HasPrefix(span, "{") || strings.HasPrefix(span, `"`) {
		text := strings.ReplaceAll(span, "…", "null")
		if !strings.HasPrefix(text, "{") {
			text = "{" + text + "}"
		}
		var body map[string]any
		miss(span, json.Unmarshal([]byte(text), &body) == nil)
		var members func(value any)
		members = func(value any) {
			if object, ok := value.(map[string]any); ok {
				for name, member := range object {
					miss(name, v.known(name))
					members(member)
				}
			}
		}
		members(body)
		return words
	}
	if v.words[span] || regexp.MustCompile(`^[a-z]{3}_[0-9a-hjkmnp-tv-z]{26}$`).MatchString(span) {
		return nil // a scope, such as content:read, or an id
	}
	if strings.HasPrefix(span, "testdata/") {
		_, err := os.Stat(path.Join("..", "..", "..", span))
		miss(span, err == nil)
		return words
	}
	if m := pair.FindStringSubmatch(span); m != nil {
		miss(m[1], v.known(m[1]))
		if strings.HasPrefix(m[2], "{") {
			return append(words, v.unknown(m[2])...)
		}
		for value := range strings.SplitSeq(m[2], ",") {
			if value = strings.Trim(value, `"`); name.MatchString(value) && value != "true" && value != "false" && value != "null" {
				miss(value, v.known(value))
			}
		}
		return words
	}
	if name.MatchString(span) {
		miss(span, v.known(span))
	} else if header.MatchString(span) {
		of, _, _ := strings.Cut(span, ":")
		miss(of, v.known(of))
	}
	return words
}

// spans returns the code spans of a guide. Those of its blocks of code are left out.
func spans(text string) (all []string) {
	blocks := regexp.MustCompile("(?s)```.*?```").ReplaceAllString(text, "")
	for _, m := range regexp.MustCompile("`([^`\n]+)`").FindAllStringSubmatch(blocks, -1) {
		all = append(all, m[1])
	}
	return all
}

// TestGuidesNameWhatThereIs compares the operations, parameters, members, events, codes and values that guides name
// with the document.
func TestGuidesNameWhatThereIs(t *testing.T) {
	v := read(t)
	entries, err := fs.Glob(os.DirFS("guides"), "*.md")
	if err != nil {
		t.Fatal(err)
	}
	found := 0
	for _, file := range entries {
		text, err := os.ReadFile(path.Join("guides", file))
		if err != nil {
			t.Fatal(err)
		}
		for _, span := range spans(string(text)) {
			found++
			for _, word := range v.unknown(span) {
				t.Errorf("%s names %s in `%s`, which the document does not have", file, word, span)
			}
		}
	}
	if found < 500 {
		t.Errorf("the guides have %d code spans", found)
	}
}

// The test above fails for what there is not.
func TestUnknownWordsAreFound(t *testing.T) {
	v := read(t)
	for span, want := range map[string]string{
		"POST /v1/content-items": "", "POST /v1/content-item": "POST /v1/content-item",
		"GET /v1/content-items?publish_from=…&metadata[a]=b": "", "GET /v1/content-items?publish_fro=…": "?publish_fro",
		"GET /_sandbox": "", "build/run": "", "POST …/schedule": "", "POST …/shedule": "POST …/shedule", "state=queued,generating": "", "state=queud": "queud",
		"failure.code": "", "failure.cod": "failure.cod", "content.generated": "", "studio.made": "studio.made",
		"insufficient_balance": "", "insufficient_funds": "insufficient_funds", "Retry-After": "", "Retry-Later": "Retry-Later",
		`{"seconds": 60}`: "", `{"secnds": 60}`: "secnds", "publish_at: null": "", "publishAt: null": "",
	} {
		if got := strings.Join(v.unknown(span), " "); got != want {
			t.Errorf("`%s`: %q, want %q", span, got, want)
		}
	}
}

// TestTheGuideOfListsHasEveryFilter compares the table of filters with the document.
func TestTheGuideOfListsHasEveryFilter(t *testing.T) {
	text, err := os.ReadFile("guides/lists.md")
	if err != nil {
		t.Fatal(err)
	}
	rows := map[string]map[string]bool{}
	for _, m := range regexp.MustCompile("(?m)^\\| `(GET [^`]+)` \\|(.*)$").FindAllStringSubmatch(string(text), -1) {
		rows[m[1]] = map[string]bool{}
		for _, span := range spans(m[2]) {
			rows[m[1]][span] = true
		}
	}
	for operation, takes := range read(t).takes {
		if !takes["limit"] {
			continue
		}
		for param := range takes {
			if !slices.Contains([]string{"limit", "cursor", "order"}, param) && !rows[operation][param] {
				t.Errorf("%s takes %s, which its row lacks", operation, param)
			}
		}
	}
}

// TestTheIntroductionNamesEveryGuide compares the table of the introduction with the guides.
func TestTheIntroductionNamesEveryGuide(t *testing.T) {
	var document struct{ Info struct{ Description string } }
	if err := json.Unmarshal(clients.OpenAPIJSON, &document); err != nil {
		t.Fatal(err)
	}
	entries, err := fs.Glob(os.DirFS("guides"), "*.md")
	if err != nil {
		t.Fatal(err)
	}
	for _, file := range entries {
		if !strings.Contains(document.Info.Description, "(guides/"+strings.TrimSuffix(file, ".md")+")") {
			t.Errorf("the introduction does not lead to %s", file)
		}
	}
}
