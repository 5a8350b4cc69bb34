package system

import (
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/content-automation/api/infra/verify/harness/calltest"
	"github.com/content-automation/api/infra/verify/harness/poll"
	"github.com/content-automation/api/pkg/adapter/provider/registry"
	"github.com/content-automation/api/pkg/cloud/secret/manager"
	"github.com/content-automation/api/pkg/cloud/topology"
)

// TestStartAndStop starts a separate system, and checks that nothing of it is left after its
// stop.
func TestStartAndStop(t *testing.T) {
	root, err := checkout()
	if err != nil {
		t.Fatal(err)
	}
	// Always the same folder: the files of the last run save a minute of work.
	dir := filepath.Join(root, ".local", "start-and-stop")
	var said []string
	s, err := Start(t.Context(), Options{Dir: dir, Say: func(step string) { said = append(said, step) }})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(s.Stop)
	if len(said) == 0 {
		t.Error("it shows no progress")
	}
	for name, value := range map[string]string{
		"base URL": s.BaseURL, "endpoint": s.Endpoint, "table": s.Table, "audit table": s.AuditTable,
		"bucket": s.MediaBucket, "bus": s.Bus,
		"fakes": s.Providers, "secret of providers": s.ProviderSecret,
	} {
		if value == "" {
			t.Errorf("it does not tell its %s", name)
		}
	}

	for _, q := range topology.Queues {
		if s.QueueURLs[q] == "" {
			t.Errorf("it does not tell its queue %s", q)
		}
	}

	t.Run("the API is served", func(t *testing.T) {
		if res, body := calltest.Send(t, calltest.Request(t, http.MethodGet, s.BaseURL+"/healthz",
			nil)); res.StatusCode != http.StatusOK {
			t.Errorf("got %s %s", res.Status, body)
		}
	})
	t.Run("the authorizer is asked", func(t *testing.T) {
		res, body := calltest.Send(t, calltest.Request(t, http.MethodGet, s.BaseURL+"/v1/me", nil))
		if res.StatusCode != http.StatusUnauthorized || calltest.Code(t, res, body) != "missing_api_key" ||
			!strings.HasPrefix(res.Header.Get("WWW-Authenticate"),
				`Bearer resource_metadata="`+s.BaseURL+`/.well-known/oauth-protected-resource/mcp", scope="`) {
			t.Errorf("got %s %v %s", res.Status, res.Header, body)
		}
	})
	t.Run("the gateway answers unknown paths", func(t *testing.T) {
		res, body := calltest.Send(t, calltest.Request(t, http.MethodGet, s.BaseURL+"/nowhere", nil))
		if res.StatusCode != http.StatusNotFound || calltest.Code(t, res, body) != "unknown_path" {
			t.Errorf("got %s %s", res.Status, body)
		}
	})
	t.Run("permissions are enforced", func(t *testing.T) {
		_, body := calltest.Send(t, calltest.Request(t, http.MethodGet, s.Endpoint+"/_ministack/health", nil))
		if !strings.Contains(body, `"auth": "enabled"`) {
			t.Errorf("got %s", body)
		}
	})
	t.Run("the fakes of the providers are served, and their credentials stored", func(t *testing.T) {
		if res, body := calltest.Send(t, calltest.Request(t, http.MethodGet, s.Providers+"/_control/log",
			nil)); res.StatusCode != http.StatusOK || !strings.Contains(body, "accepted") {
			t.Errorf("got %s %s", res.Status, body)
		}
		stored := registry.NewCredentials(manager.Secret(s.AWS(), s.ProviderSecret), time.Now)
		for _, name := range registry.CredentialProviders() {
			if key, err := stored.Key(name)(t.Context()); err != nil || key == "" {
				t.Errorf("%s: %q, %v", name, key, err)
			}
		}
	})
	t.Run("the folder is taken", func(t *testing.T) {
		if _, err := Start(t.Context(), Options{Dir: dir}); err == nil ||
			!strings.Contains(err.Error(), "another local system runs in "+dir) {
			t.Errorf("got %v", err)
		}
	})

	if len(processes(t, dir)) == 0 {
		t.Error("the processes of the system cannot be found")
	}
	s.Stop()
	s.Stop() // A second stop does nothing.
	for _, url := range []string{s.BaseURL, s.Endpoint, s.Providers} {
		if res, err := direct.Do(calltest.Request(t, http.MethodGet, url+"/healthz", nil)); err == nil {
			_ = res.Body.Close()
			t.Errorf("%s still answers", url)
		}
	}
	poll.Until(t, "every process of it ends", func() bool { return len(processes(t, dir)) == 0 })
	if _, err := os.Stat(filepath.Join(dir, "tmp")); !os.IsNotExist(err) {
		t.Errorf("the functions' code is left: %v", err)
	}
	<-s.Ended()
}

// processes returns the command lines of the processes whose program or script is below dir.
func processes(t *testing.T, dir string) []string {
	t.Helper()
	var all []string
	files, _ := filepath.Glob("/proc/[0-9]*/cmdline")
	for _, file := range files {
		if data, err := os.ReadFile(file); err == nil { // The process may have ended.
			all = append(all, strings.ReplaceAll(string(data), "\x00", " "))
		}
	}
	if len(files) == 0 { // Not Linux.
		out, err := exec.CommandContext(t.Context(), "ps", "-A", "-o", "args=").Output()
		if err != nil {
			t.Fatalf("listing the processes: %v", err)
		}
		all = strings.Split(string(out), "\n")
	}
	return slices.DeleteFunc(all, func(line string) bool { return !strings.Contains(line, dir+"/") })
}
