//go:build inspector

package console

import (
	"bufio"
	"encoding/json"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// agentClients are the official clients, with the command that runs each.
func agentClients(t *testing.T) map[string][]string {
	t.Helper()
	tools, err := filepath.Abs("../../../.tools")
	if err != nil {
		t.Fatal(err)
	}
	t.Setenv("AGENT_TOOLS", filepath.Join(tools, "agents-node"))
	return map[string][]string{
		"TypeScript": {filepath.Join(tools, "runtime-node", "node_modules", ".bin", "node"), "agents/agent.mjs"},
		"Python":     {filepath.Join(tools, "agents-python", "bin", "python"), "agents/agent.py"},
	}
}

// The official clients get from the address alone to a call of a tool: by a document that describes them, and by a
// registration. The person in the browser does what the page of consent asks for.
func TestOfficialClientsConnectFromTheAddressAlone(t *testing.T) {
	docs := newDocuments(t)
	s := docs.start(t)
	b := s.signedIn(t, "developer")
	document := docs.put("/agent.json", map[string]any{"client_name": "Described agent"}, "max-age=60")
	for language, command := range agentClients(t) {
		for way, id := range map[string]string{"by registration": "", "by a document": document} {
			t.Run(language+" "+way, func(t *testing.T) {
				cmd := exec.CommandContext(t.Context(), command[0], command[1], s.BaseURL+"/mcp", programReturn, id)
				cmd.Env = append(os.Environ(), "HOME="+t.TempDir())
				problems := &strings.Builder{}
				cmd.Stderr = problems
				in, err := cmd.StdinPipe()
				if err != nil {
					t.Fatal(err)
				}
				out, err := cmd.StdoutPipe()
				if err != nil {
					t.Fatal(err)
				}
				if err := cmd.Start(); err != nil {
					t.Fatal(err)
				}
				var done struct {
					ID     string
					Tools  int
					Failed bool
					Text   string
				}
				asked := ""
				for lines := bufio.NewScanner(out); lines.Scan(); {
					what, rest, _ := strings.Cut(lines.Text(), " ")
					switch what {
					case "open":
						asked = rest
						q := s.consented(b, rest, nil)
						if _, err := in.Write([]byte(programReturn + "?" + q.Encode() + "\n")); err != nil {
							t.Fatal(err)
						}
					case "done":
						if err := json.Unmarshal([]byte(rest), &done); err != nil {
							t.Fatal(err)
						}
					}
				}
				if err := cmd.Wait(); err != nil {
					t.Fatalf("%v: %s", err, problems)
				}
				u, err := url.Parse(asked)
				if err != nil || u.Query().Get("resource") != s.BaseURL+"/mcp" || u.Query().Get("scope") == "" {
					t.Errorf("the person was led to %s: %v", asked, err)
				}
				if byDocument := strings.HasPrefix(done.ID, "https://"); byDocument != (id != "") || done.Failed ||
					done.Tools < 5 || !strings.Contains(done.Text, "account") {
					t.Errorf("%+v", done)
				}
				t.Logf("%s: %d tools, %q", done.ID, done.Tools, done.Text)
			})
		}
	}
}
