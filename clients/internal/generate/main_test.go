package main

import (
	"encoding/json"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/content-automation/api/clients"
	"github.com/content-automation/api/clients/internal/form"
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
	var ideas map[string]any
	if err := json.Unmarshal([]byte(strings.NewReplacer("listPromotions", "listIdeas", `"promotions"`, `"ideas"`).
		Replace(string(copied))), &ideas); err != nil {
		t.Fatal(err)
	}
	paths["/v1/ideas"] = map[string]any{"get": ideas}
	schemas := doc["components"].(map[string]any)["schemas"].(map[string]any)
	schemas["ContentItem"].(map[string]any)["properties"].(map[string]any)["approved_by"] = map[string]any{"type": "string"}
	schemas["ContentItem"].(map[string]any)["description"] = "A post or a video, with its state"
	state := schemas["ContentState"].(map[string]any)
	state["x-extensible-enum"] = append(state["x-extensible-enum"].([]any), "approved")
	state["description"] = "Where an item is on its way"
	changed, err := json.Marshal(doc)
	if err != nil {
		t.Fatal(err)
	}
	all, err := files("../../..", changed)
	if err != nil {
		t.Fatal(err)
	}
	for name, wants := range map[string][]string{
		"go/operations_gen.go": {"type PeopleService struct", "ContentState | ContentPlanState | DiagnosisState"},
		"go/types_gen.go": {`ContentStateApproved ContentState = "approved"`,
			"// ContentItem: A post or a video, with its state.", "// ContentState: Where an item is on its way."},
		"typescript/src/resources.gen.ts": {"readonly people: PeopleResource;",
			"'published' | 'failed' | 'canceled' | 'approved'>"},
		"typescript/src/types.gen.ts": {"approved_by?: string;",
			"/** A post or a video, with its state. */ export interface ContentItem {", "/** Where an item is on its way. */", "export interface UnknownEvent { type: string;", "name?: string | undefined;"},
		"python/src/content_automation/_async_resources.py": {"self.people = AsyncPeopleResource(client)"},
		"python/src/content_automation/_sync_resources.py":  {"self.people = PeopleResource(client)"},
		"python/src/content_automation/_types.py": {"approved_by: NotRequired[str]",
			`class ContentItem(TypedDict): """A post or a video, with its state."""`, `"""Where an item is on its way."""`},
		"cli/operations_gen.go":                              {`id: "listPeople", name: "list"`},
		"postman/content-automation.postman_collection.json": {`"name": "Ideas"`},
		"n8n/nodes/ContentAutomation/resources/index.gen.ts": {"{ name: 'Idea', value: 'ideas' }"},
		"n8n/nodes/ContentAutomation/resources/ideas.gen.ts": {"{ method: 'GET', url: '/v1/ideas' }"},
	} {
		text := strings.Join(strings.Fields(string(all[name])), " ")
		for _, want := range wants {
			if !strings.Contains(text, want) {
				t.Errorf("%s lacks %q", name, want)
			}
		}
	}
}

// TestWorkTellsWhyItHasFailed fails if the clients would not find the reason of a failure.
func TestWorkTellsWhyItHasFailed(t *testing.T) {
	f, err := form.Read(clients.OpenAPIJSON)
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range works(f) {
		var reasons []string
		for _, m := range f.Type(name).Members {
			if m.Name == "failure" || m.Name == "reason" {
				for _, member := range f.Type(m.Type.Name).Members {
					reasons = append(reasons, member.Name)
				}
			}
		}
		if !slices.Contains(reasons, "code") || !slices.Contains(reasons, "message") {
			t.Errorf("%s has no failure or reason with a code and a message: %v", name, reasons)
		}
	}
}

// item is a request or a folder of the Postman collection.
type item struct {
	ID, Name string
	Request  struct {
		URL  struct{ Raw string }
		Body struct{ Raw string }
	}
	Event []struct {
		Listen string
		Script struct{ Exec []string }
	}
	Item []item
}

var (
	usedVariable = regexp.MustCompile(`{{(\w+)}}`)
	setVariable  = regexp.MustCompile(`collectionVariables\.set\('(\w+)'`)
)

// follow fails if a request uses a variable that none before it has set, or sends the id of an example, which is
// nobody's. It returns the variables that are known after the request.
func (i item) follow(t *testing.T, known []string) []string {
	t.Helper()
	for _, text := range []string{i.Request.URL.Raw, i.Request.Body.Raw} {
		for _, found := range usedVariable.FindAllStringSubmatch(text, -1) {
			if !slices.Contains(known, found[1]) {
				t.Errorf("%s uses %s, which no request before it sets", i.Name, found[1])
			}
		}
		if strings.Contains(text, "_01h455vb4pex5vsknk084sn02q") {
			t.Errorf("%s sends the id of an example: %s", i.Name, text)
		}
	}
	for _, e := range i.Event {
		for _, found := range setVariable.FindAllStringSubmatch(strings.Join(e.Script.Exec, "\n"), -1) {
			known = append(known, found[1])
		}
	}
	return known
}

// TestTheCollectionIsInOrder reads the folders of the Postman collection, and follows its requests from the first to
// the last.
func TestTheCollectionIsInOrder(t *testing.T) {
	var collection struct {
		Info struct {
			ID string `json:"_postman_id"`
		}
		Item []item
	}
	read := func(file string, into any) {
		t.Helper()
		text, err := os.ReadFile(filepath.Join("..", "..", "postman", file))
		if err != nil {
			t.Fatal(err)
		}
		if err := json.Unmarshal(text, into); err != nil {
			t.Fatal(err)
		}
	}
	read("content-automation.postman_collection.json", &collection)
	uuid := regexp.MustCompile(`^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$`) // RFC 9562
	ids := map[string]item{"": {}}
	folders := map[string][]string{}
	var collect func(folder string, list []item)
	collect = func(folder string, list []item) {
		for _, one := range list {
			if one.Item != nil {
				collect(one.Name, one.Item)
				continue
			}
			_, twice := ids[one.ID]
			if url := one.Request.URL.Raw; twice || !uuid.MatchString(one.ID) || strings.Contains(url, "/people") {
				t.Errorf("%s has the id %s and calls %s", one.Name, one.ID, url)
			}
			ids[one.ID] = one
			folders[folder] = append(folders[folder], one.Name)
		}
	}
	for _, folder := range collection.Item {
		if folders[folder.Name] != nil {
			t.Errorf("there are two folders %q", folder.Name)
		}
		collect(folder.Name, folder.Item)
	}
	for name, first := range map[string]string{"Content": "Create a content item", "Factories": "Create a factory",
		"Products": "Create a product", "Empty the sandbox (off)": "Empty the sandbox"} {
		if len(folders[name]) == 0 || folders[name][0] != first {
			t.Errorf("%s has %v, want %q first", name, folders[name], first)
		}
	}
	next := regexp.MustCompile(`setNextRequest\('([^']+)'\)`)
	at, n, last, known := collection.Item[0].Item[0].ID, 0, item{}, []string{"baseUrl", "apiKey", "webhookUrl"}
	for ; at != "" && n < len(ids); n++ {
		last = ids[at]
		at = ""
		// The first script sets the times; {{date}} is a part of the prompt of an automation.
		known = last.follow(t, append(known, "next_week", "an_hour_ago", "date"))
		for _, e := range last.Event {
			if found := next.FindStringSubmatch(strings.Join(e.Script.Exec, "\n")); e.Listen == "test" && found != nil {
				at = found[1]
			}
		}
	}
	skips := func(i item) bool {
		for _, e := range i.Event {
			if text := strings.Join(e.Script.Exec, "\n"); e.Listen == "prerequest" && strings.Contains(text, "skipRequest") {
				return true
			}
		}
		return false
	}
	if n != len(ids)-1 || !strings.HasSuffix(last.Request.URL.Raw, "/v1/sandbox/reset") || !skips(last) {
		t.Errorf("the run has %d of %d requests, and ends with %q", n, len(ids)-1, last.Name)
	}
	for _, file := range []string{"local", "cloud"} {
		var environment struct{ ID string }
		if read(file+".postman_environment.json", &environment); !uuid.MatchString(environment.ID) {
			t.Errorf("%s has the id %s", file, environment.ID)
		}
	}
	if !uuid.MatchString(collection.Info.ID) {
		t.Errorf("the collection has the id %s", collection.Info.ID)
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
		{"n8n", find("n8n/package.json", `"version": "(.+)"`), "n8n/package.json", `"version": "(.+)"`},
		{"go", find("go/client.go", `Version = "(.+)"`), "go/CHANGELOG.md", `(?m)^## (.+)$`},
	} {
		changed := find(c.name+"/CHANGELOG.md", `(?m)^## (.+)$`)
		if version := find(c.file, c.pattern); c.says != version || changed != version {
			t.Errorf("%s: requests say %s, the package is %s, and the last changes are of %s", c.name, c.says, version, changed)
		}
	}
}

// TestTheNodeHasWhatAKeyMayCall compares the operations of the n8n node with those of the document.
func TestTheNodeHasWhatAKeyMayCall(t *testing.T) {
	f, err := form.Read(clients.OpenAPIJSON)
	if err != nil {
		t.Fatal(err)
	}
	all := map[string][]byte{}
	if err := writeN8n("", f, all); err != nil {
		t.Fatal(err)
	}
	for _, r := range f.Resources {
		text := string(all["n8n/nodes/ContentAutomation/resources/"+r.Name+".gen.ts"])
		for _, o := range r.Operations {
			request := regexp.MustCompile("method: '" + o.Method + `',\s+url: ` + regexp.QuoteMeta("'"+o.Path+"'"))
			if has := request.MatchString(text); has == (o.Scope == "person") {
				t.Errorf("%s, which needs %s: the node has it: %t", o.ID, o.Scope, has)
			}
			for _, p := range o.Query {
				if o.Scope != "person" && !o.Paged && !strings.Contains(text, "property: '"+p.Name+"'") {
					t.Errorf("the node lacks the parameter %s of %s", p.Name, o.ID)
				}
			}
		}
	}
}

func TestDescriptionsOfTheNode(t *testing.T) {
	for in, want := range map[string]string{
		"id of the url":              "ID of the URL",
		"One sentence.":              "One sentence",
		"Two sentences. The second":  "Two sentences. The second.",
		"such as <name> and `code`.": "Such as &lt;name&gt; and code",
		"":                           "",
	} {
		if got := n8nDoc(in); got != want {
			t.Errorf("n8nDoc(%q) = %q, want %q", in, got, want)
		}
	}
	for in, want := range map[string]string{
		"posts_per_day": "Posts per Day", "mime_type": "MIME Type", "social_account_id": "Social Account ID", "vk": "VK",
	} {
		if got := n8nTitle(in); got != want {
			t.Errorf("n8nTitle(%q) = %q, want %q", in, got, want)
		}
	}
	if got := literal("", props{{"a b", "it's"}, {"c", array{1, true, code("x")}}}); got != `{ 'a b': "it's", c: [1, true, x] }` {
		t.Errorf("literal: %s", got)
	}
	if got := single(`it's "so"`); got != `'it\'s "so"'` {
		t.Errorf("single: %s", got)
	}
}

// What nearly all fill in is a field of its own, and times have a calendar.
func TestTheNodeShowsWhatIsUsed(t *testing.T) {
	read := func(name string) string {
		t.Helper()
		text, err := os.ReadFile("../../n8n/nodes/ContentAutomation/resources/" + name + ".gen.ts")
		if err != nil {
			t.Fatal(err)
		}
		return string(text)
	}
	content := read("content")
	prompt := "displayName: 'Prompt',\n    name: 'prompt',\n    type: 'string',\n    displayOptions: { show: { " +
		"resource: ['content'], operation: ['create'] } },"
	if !strings.Contains(content, prompt) {
		t.Errorf("the prompt of a new content item is no field of its own")
	}
	if all, dates := strings.Count(content, "name: 'publish_at',"), strings.Count(content, "name: 'publish_at',\n        type: "+
		"'dateTime',")+strings.Count(content, "name: 'publish_at',\n    type: 'dateTime',"); all == 0 || all != dates {
		t.Errorf("of %d times of publication %d have a calendar", all, dates)
	}
	if !strings.Contains(read("index"), "{ name: 'Analytics', value: 'analytics' }") {
		t.Error("the resource for analytics has another name")
	}
}

// The linter of n8n refuses a description that repeats the name of its field.
func TestNoDescriptionOfN8nRepeatsItsName(t *testing.T) {
	files, err := filepath.Glob("../../n8n/nodes/ContentAutomation/resources/*.gen.ts")
	if err != nil || len(files) == 0 {
		t.Fatal(files, err)
	}
	name := regexp.MustCompile(`displayName: '([^']*)'`)
	doc := regexp.MustCompile(`description: '([^']*)'`)
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		names := map[string]bool{}
		for _, found := range name.FindAllStringSubmatch(string(text), -1) {
			names[strings.ToLower(found[1])] = true
		}
		for _, found := range doc.FindAllStringSubmatch(string(text), -1) {
			if names[strings.ToLower(found[1])] {
				t.Errorf("%s: the description %q is a name", filepath.Base(file), found[1])
			}
		}
	}
}

// TestSecretsOfTheNodeAreMasked fails if n8n would show a secret while it is typed. The linter of n8n, which runs in
// `make test-clients`, refuses the package then.
func TestSecretsOfTheNodeAreMasked(t *testing.T) {
	files, err := filepath.Glob(filepath.Join("..", "..", "n8n", "nodes", "ContentAutomation", "resources", "*.gen.ts"))
	if err != nil || len(files) == 0 {
		t.Fatal(files, err)
	}
	field := regexp.MustCompile(`name: '(\w*(?:secret|password|token|passphrase)\w*)',\s+type: 'string',\s+(.*)\n`)
	n := 0
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		for _, found := range field.FindAllSubmatch(text, -1) {
			if n++; string(found[2]) != "typeOptions: { password: true }," {
				t.Errorf("%s of %s has %q after its type", found[1], filepath.Base(file), found[2])
			}
		}
	}
	if n < 4 {
		t.Errorf("only %d secrets were found", n)
	}
}
