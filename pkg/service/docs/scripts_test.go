package docs_test

import (
	"encoding/json"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"golang.org/x/net/html/atom"

	"github.com/content-automation/api/clients"
)

// TestScriptsOfThePages runs the scripts of the explorer and of the guides by Node.
func TestScriptsOfThePages(t *testing.T) {
	h, dir := builtIn(), t.TempDir()
	write := func(name string, content []byte) string {
		file := filepath.Join(dir, name)
		if err := os.WriteFile(file, content, 0o600); err != nil {
			t.Fatal(err)
		}
		return file
	}
	page := string(bodyOf(t, call(h, http.MethodGet, guidesPath+"quick-start")))
	src := regexp.MustCompile(`<script src="\.\./(assets/page-[^"]+)">`).FindStringSubmatch(page)
	if src == nil {
		t.Fatal("the page of a guide has no script")
	}
	explorer, err := os.ReadFile("explorer.js")
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.CommandContext(t.Context(), "node", "testdata/scripts.mjs", write("explorer.js", explorer),
		write("page.js", bodyOf(t, call(h, http.MethodGet, "/api-docs/"+src[1]))),
		write("openapi.json", clients.OpenAPIJSON),
		write("explorer.json", bodyOf(t, call(h, http.MethodGet, "/api-docs/explorer.json"))))
	cmd.Stderr = os.Stderr
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("node: %v", err)
	}
	var seen struct {
		Calls  []struct{ Method, Path, Body string }
		Groups []struct {
			Name string
			Tags []string
		}
		Tags             []string
		Documented       bool
		Times, Periods   int
		Reloaded, Sample string
		Narrowed         []string // the parts of the document of one area
		Shell            string
		Copied           []string
	}
	if err := json.Unmarshal(out, &seen); err != nil {
		t.Fatalf("%v: %s", err, out)
	}

	// The id of what was made last takes the place of the example, until another key is used.
	const first, second, example = "fac_00000000000000000000000001", "fac_00000000000000000000000002",
		"fac_01h455vb4pex5vsknk084sn02q"
	var calls []string
	for _, c := range seen.Calls {
		calls = append(calls, c.Method+" "+strings.TrimPrefix(c.Path, "/stage/v1/")+" "+c.Body)
	}
	if want := []string{`POST factories {"name":"Acme"}`, `POST content-items {"factory_id":"` + first + `"}`,
		"GET factories/" + second + " ", "GET factories/" + example + " "}; !slices.Equal(calls, want) {
		t.Errorf("sent %q, want %q", calls, want)
	}
	if seen.Reloaded != second {
		t.Errorf("after a reload the document has %q", seen.Reloaded)
	}
	if seen.Documented {
		t.Error("the explorer shows another host than its own")
	}
	// The explorer warns of an empty field with the format of a time.
	if seen.Times > 0 || seen.Periods < 8 {
		t.Errorf("%d optional times of %d periods have a format", seen.Times, seen.Periods)
	}
	for _, g := range seen.Groups {
		if g.Name == "More" {
			t.Errorf("no group of the explorer has %q", g.Tags)
		}
	}
	var grouped []string
	for _, g := range seen.Groups {
		grouped = append(grouped, g.Tags...)
	}
	if slices.Sort(grouped); len(seen.Groups) < 4 || len(seen.Groups) > 6 ||
		!slices.Equal(grouped, slices.Sorted(slices.Values(seen.Tags))) {
		t.Errorf("the groups %+v, of the tags %q", seen.Groups, seen.Tags)
	}
	if want := []string{"Feeds", "false", "true", "false"}; !slices.Equal(seen.Narrowed, want) {
		t.Errorf("the explorer of an area has %q, want %q", seen.Narrowed, want)
	}
	if !strings.Contains(seen.Shell, "content-automation content create --body") ||
		!strings.Contains(seen.Shell, "https://api.customer.test/stage") {
		t.Errorf("the sample of the command line is %q", seen.Shell)
	}
	if seen.Sample != "curl https://api.customer.test/stage/v1/me" || !slices.Equal(seen.Copied,
		[]string{"curl https://api.example.com/v1/me", "Copied"}) {
		t.Errorf("the sample is %q; copied %q", seen.Sample, seen.Copied)
	}
}

// The navigation is grouped, and the group of the page is open.
func TestTheNavigationIsGrouped(t *testing.T) {
	for _, at := range written(t) {
		groups, open := 0, ""
		for n := range parse(t, builtIn(), at).Descendants() {
			if n.DataAtom != atom.Details {
				continue
			}
			groups++
			for _, a := range n.Attr {
				if a.Key == "open" {
					open += n.FirstChild.FirstChild.Data
				}
			}
		}
		want := map[string]string{guidesPath + "publishing": "Publishing", errorsPath + "timeout": "Reference"}[at]
		if groups != 7 || open == "" || want != "" && open != want {
			t.Errorf("%s has %d groups, open is %q", at, groups, open)
		}
	}
}
