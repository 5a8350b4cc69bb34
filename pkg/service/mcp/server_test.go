package mcp

import (
	"encoding/json"
	"os"
	"regexp"
	"strings"
	"testing"
)

// The entry of the registry of MCP has the version, the path and the authorization of the server, within the bounds of
// the registry: a name in reverse DNS, and a description of up to 100 characters.
func TestTheRegistryEntryIsOfThisServer(t *testing.T) {
	raw, err := os.ReadFile("../../../server.json")
	if err != nil {
		t.Fatal(err)
	}
	type variable struct {
		Description string
		IsRequired  bool
		IsSecret    bool
	}
	var entry struct {
		Schema      string `json:"$schema"`
		Name        string
		Title       string
		Description string
		Version     string
		Repository  struct{ URL, Source string }
		Remotes     []struct {
			Type, URL string
			Variables map[string]variable
			Headers   []struct {
				Name, Value          string
				IsRequired, IsSecret bool
				Variables            map[string]variable
			}
		}
	}
	if err := json.Unmarshal(raw, &entry); err != nil {
		t.Fatal(err)
	}
	if !strings.HasSuffix(entry.Schema, "/server.schema.json") || entry.Version != Version || entry.Title == "" ||
		!regexp.MustCompile(`^[a-zA-Z0-9.-]+/[a-zA-Z0-9._-]+$`).MatchString(entry.Name) ||
		len(entry.Description) == 0 || len(entry.Description) > 100 || entry.Repository.Source != "github" {
		t.Errorf("%+v", entry)
	}
	placeholder := regexp.MustCompile(`\{(\w+)\}`)
	byKey := 0
	for _, r := range entry.Remotes {
		if r.Type != "streamable-http" || !strings.HasPrefix(r.URL, "https://") || !strings.HasSuffix(r.URL, Path) {
			t.Errorf("%+v", r)
		}
		for _, m := range placeholder.FindAllStringSubmatch(r.URL, -1) {
			if !r.Variables[m[1]].IsRequired || r.Variables[m[1]].Description == "" {
				t.Errorf("%s has no variable %s", r.URL, m[1])
			}
		}
		for _, h := range r.Headers {
			byKey++
			if h.Name != "Authorization" || h.Value != "Bearer {api_key}" || !h.IsSecret || !h.Variables["api_key"].IsSecret {
				t.Errorf("%+v", h)
			}
		}
	}
	if len(entry.Remotes) != 2 || byKey != 1 {
		t.Errorf("%d ways to connect, %d of them by a key", len(entry.Remotes), byKey)
	}
}
