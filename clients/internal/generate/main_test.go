package main

import (
	"encoding/json"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/content-automation/api/clients"
)

// TestTheClientsAreThoseOfTheDocument fails if a generated file is stale.
func TestTheClientsAreThoseOfTheDocument(t *testing.T) {
	if err := run("../../..", true); err != nil {
		t.Error(err)
	}
}

// TestANewOperationIsInAllClients adds an operation for people, a member and a value, as a later document does.
func TestANewOperationIsInAllClients(t *testing.T) {
	var doc map[string]any
	if err := json.Unmarshal(clients.OpenAPIJSON, &doc); err != nil {
		t.Fatal(err)
	}
	paths := doc["paths"].(map[string]any)
	copied, err := json.Marshal(paths["/v1/promotions"].(map[string]any)["get"])
	if err != nil {
		t.Fatal(err)
	}
	var list map[string]any
	if err := json.Unmarshal([]byte(strings.NewReplacer("listPromotions", "listPeople", `"promotions"`, `"people"`,
		`"Promotions"`, `"People"`, "products:read", "person").Replace(string(copied))), &list); err != nil {
		t.Fatal(err)
	}
	paths["/v1/people"] = map[string]any{"get": list}
	schemas := doc["components"].(map[string]any)["schemas"].(map[string]any)
	schemas["ContentItem"].(map[string]any)["properties"].(map[string]any)["approved_by"] = map[string]any{"type": "string"}
	state := schemas["ContentState"].(map[string]any)
	state["x-extensible-enum"] = append(state["x-extensible-enum"].([]any), "approved")
	changed, err := json.Marshal(doc)
	if err != nil {
		t.Fatal(err)
	}
	all, err := files("../../..", changed)
	if err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string]string{
		"go/operations_gen.go":                               "type PeopleService struct",
		"go/types_gen.go":                                    `ContentStateApproved ContentState = "approved"`,
		"typescript/src/resources.gen.ts":                    "readonly people: PeopleResource;",
		"typescript/src/types.gen.ts":                        "approved_by?: string;",
		"python/src/content_automation/_async_resources.py":  "self.people = AsyncPeopleResource(client)",
		"python/src/content_automation/_sync_resources.py":   "self.people = PeopleResource(client)",
		"python/src/content_automation/_types.py":            "approved_by: NotRequired[str]",
		"cli/operations_gen.go":                              `id: "listPeople", name: "list"`,
		"postman/content-automation.postman_collection.json": "to.be.oneOf([403])",
	} {
		text := strings.Join(strings.Fields(string(all[name])), " ")
		if !strings.Contains(text, want) {
			t.Errorf("%s lacks %q", name, want)
		}
	}
}

// TestVersionsAgree compares the version of each package with the one that its requests tell.
func TestVersionsAgree(t *testing.T) {
	find := func(file, pattern string) string {
		t.Helper()
		text, err := os.ReadFile(filepath.Join("..", "..", file))
		if err != nil {
			t.Fatal(err)
		}
		found := regexp.MustCompile(pattern).FindSubmatch(text)
		if found == nil {
			t.Fatalf("%s has no version", file)
		}
		return string(found[1])
	}
	for _, c := range []struct{ name, says, file, pattern string }{
		{"typescript", find("typescript/src/core.ts", `VERSION = '(.+)'`), "typescript/package.json", `"version": "(.+)"`},
		{"python", find("python/src/content_automation/_request.py", `VERSION = "(.+)"`), "python/pyproject.toml",
			`(?m)^version = "(.+)"`},
		{"go", find("go/client.go", `Version = "(.+)"`), "go/CHANGELOG.md", `(?m)^## (.+)$`},
	} {
		changed := find(c.name+"/CHANGELOG.md", `(?m)^## (.+)$`)
		if version := find(c.file, c.pattern); c.says != version || changed != version {
			t.Errorf("%s: requests say %s, the package is %s, and the last changes are of %s", c.name, c.says, version, changed)
		}
	}
}
