package docs_test

import (
	"encoding/json"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"testing"
)

type searched struct {
	Query, Instead string
	Hits           []struct {
		Path, Title, Kind string
		Excerpt           []struct {
			Text   string
			Marked bool
		}
	}
}

func search(t *testing.T, h http.Handler, query string) (s searched) {
	t.Helper()
	resp := call(h, http.MethodGet, "/api-docs/search.json?q="+url.QueryEscape(query))
	if err := json.Unmarshal(bodyOf(t, resp), &s); err != nil || resp.StatusCode != 200 {
		t.Fatalf("%s: %d, %v", query, resp.StatusCode, err)
	}
	return s
}

// TestSearchesOfCallers looks for what callers look for. The page that answers is among the first three.
func TestSearchesOfCallers(t *testing.T) {
	h := builtIn()
	for query, want := range map[string]string{
		"webhook":                       "guides/webhooks",
		"webhok":                        "guides/webhooks",
		"verify signature":              "guides/webhooks",
		"вебхук":                        "guides/webhooks",
		"callback url":                  "guides/webhooks",
		"refund":                        "guides/credits",
		"pricing":                       "guides/credits",
		"how much does a video cost":    "guides/credits",
		"insufficient_balance":          "errors/insufficient_balance",
		"402":                           "errors/insufficient_balance",
		"429":                           "errors/rate_limited",
		"rate limit":                    "guides/limits",
		"schedule":                      "reference/scheduleContentItem",
		"cancel a post":                 "reference/cancelContentItem",
		"post":                          "guides/publishing",
		"publish a post":                "reference/publishContentItem",
		"create a post":                 "reference/createContentItem",
		"make image":                    "reference/createImage",
		"delete a webhook":              "reference/deleteWebhook",
		"createFactory":                 "reference/createFactory",
		"/v1/api-keys":                  "reference/createApiKey",
		"rotate key":                    "reference/rotateApiKey",
		"idempotency key":               "guides/idempotency",
		"pagination":                    "guides/lists",
		"upload a photo":                "guides/media",
		"python sdk":                    "guides/clients",
		"test without spending":         "guides/sandbox",
		"approve content":               "reference/approveContentItem",
		"hubspot":                       "guides/integrations",
		"gdpr export":                   "guides/transfer",
		"changelog":                     "guides/changelog",
		"mcp":                           "guides/agents",
		"uptime":                        "guides/service-levels",
		"reply to comments":             "reference/replyToComment",
		"instagram":                     "guides/publishing",
		"how do I connect an instagram": "guides/social",
	} {
		s := search(t, h, query)
		var first []string
		for _, hit := range s.Hits[:min(3, len(s.Hits))] {
			page, _, _ := strings.Cut(hit.Path, "#")
			first = append(first, page)
		}
		if !slices.Contains(first, want) {
			t.Errorf("%q finds %q, want %s", query, first, want)
		}
	}
}

// A result shows where its words are, and the page of results has the same without a script.
func TestResultsHaveExcerpts(t *testing.T) {
	h := builtIn()
	s := search(t, h, "Verify the signature")
	marked := false
	for _, hit := range s.Hits {
		at, _, _ := strings.Cut(hit.Path, "#")
		if resp := call(h, http.MethodGet, "/api-docs/"+at); hit.Kind != "Page" && resp.StatusCode != 200 {
			t.Errorf("%s: %d", hit.Path, resp.StatusCode)
		}
		for _, piece := range hit.Excerpt {
			marked = marked || piece.Marked
		}
	}
	if len(s.Hits) == 0 || len(s.Hits) > 12 || !marked {
		t.Errorf("found %+v", s)
	}
	page := string(bodyOf(t, call(h, http.MethodGet, "/api-docs/search?q=Verify+the+signature")))
	for _, want := range []string{"<mark>", `href="guides/webhooks`, `value="Verify the signature"`} {
		if !strings.Contains(page, want) {
			t.Errorf("the page of results lacks %s", want)
		}
	}
	if mended := search(t, h, "webhok"); mended.Instead != "webhook" {
		t.Errorf("webhok is read as %q", mended.Instead)
	}
	for _, query := range []string{"", "   ", "zzzzqqqq", "<script>alert(1)</script>", strings.Repeat("word ", 5_000),
		"\xff\xfe", "Ⱥ İ"} {
		resp := call(h, http.MethodGet, "/api-docs/search?q="+url.QueryEscape(query))
		if text := string(bodyOf(t, resp)); resp.StatusCode != 200 || strings.Contains(text, "<script>") {
			t.Errorf("%.20q: %d", query, resp.StatusCode)
		}
	}
	if none := search(t, h, "zzzzqqqq"); len(none.Hits) > 0 {
		t.Errorf("nonsense finds %+v", none.Hits)
	}
}
