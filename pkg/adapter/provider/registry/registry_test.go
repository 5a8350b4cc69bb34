package registry

import (
	"context"
	"io"
	"maps"
	"net/http"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"

	"github.com/content-automation/api/pkg/adapter/provider"
	"github.com/content-automation/api/pkg/adapter/provider/sandbox"
	"github.com/content-automation/api/pkg/base/errs"
	"github.com/content-automation/api/pkg/base/tenant"
)

// named is a provider with nothing but a name.
type named struct {
	provider.Provider
	name string
}

func (n *named) Name() string { return n.name }

// build puts a builder into the table for one test, and counts its calls.
func build(t *testing.T, name string) *atomic.Int32 {
	t.Helper()
	var built atomic.Int32
	was, had := builders[name]
	builders[name] = func(*Registry) provider.Provider {
		built.Add(1)
		return &named{name: name}
	}
	t.Cleanup(func() {
		delete(builders, name)
		if had {
			builders[name] = was
		}
	})
	return &built
}

func TestTestKeysGetTheSandbox(t *testing.T) {
	built := build(t, "fal")
	r := New(Config{Configured: provider.ParseConfigured("fal"), Now: time.Now})
	for _, name := range []string{"fal", "heygen", "nobody", ""} {
		p, err := r.For(name, "test")
		if err != nil || p.Name() != sandbox.Name {
			t.Errorf("%s: %v, %v", name, p, err)
		}
	}
	if built.Load() != 0 {
		t.Error("a provider was built for a test key")
	}
}

func TestLiveKeysGetWhatIsConfigured(t *testing.T) {
	build(t, "fal")
	build(t, "heygen")
	r := New(Config{Configured: provider.ParseConfigured("fal,unheard"), Now: time.Now})
	if p, err := r.For("fal", "live"); err != nil || p.Name() != "fal" {
		t.Errorf("got %v, %v", p, err)
	}
	if !r.Configured("fal") || r.Configured("heygen") {
		t.Error("what is configured is told wrongly")
	}
	for name, mode := range map[string]tenant.Mode{"heygen": "live", "unheard": "live", "": "live", "fal": "",
		"sandbox": "live"} {
		if p, err := r.For(name, mode); errs.CodeOf(err) != errs.ProviderUnavailable {
			t.Errorf("%s for %q keys: %v, %v", name, mode, p, err)
		}
	}
}

func TestAProviderIsBuiltOnceWhenItIsWanted(t *testing.T) {
	built := build(t, "fal")
	r := New(Config{Configured: provider.ParseConfigured("fal"), Now: time.Now})
	if built.Load() != 0 {
		t.Error("built before it was wanted")
	}
	var wait sync.WaitGroup
	for range 20 {
		wait.Go(func() {
			if _, err := r.For("fal", "live"); err != nil {
				t.Error(err)
			}
		})
	}
	wait.Wait()
	if n := built.Load(); n != 1 {
		t.Errorf("built %d times", n)
	}
}

// answers is a transport that returns one status.
type answers struct{ status int }

func (a *answers) RoundTrip(*http.Request) (*http.Response, error) {
	return &http.Response{StatusCode: a.status, Body: io.NopCloser(strings.NewReader(""))}, nil
}

func TestARefusedCredentialIsReadAgain(t *testing.T) {
	var reads atomic.Int32
	secret := func(context.Context) (string, error) {
		if reads.Add(1) > 1 {
			return `{"fal": {"key": "new"}}`, nil
		}
		return `{"fal": {"key": "old"}}`, nil
	}
	now := time.Now()
	transport := &answers{http.StatusOK}
	r := New(Config{Secret: secret, HTTP: transport, Now: func() time.Time { return now }})
	if reads.Load() != 0 {
		t.Error("the secret was read before it was wanted")
	}
	for _, step := range []struct {
		status int
		want   string
	}{{http.StatusOK, "old"}, {http.StatusForbidden, "old"}, {http.StatusUnauthorized, "old"}, {http.StatusOK, "new"},
		{http.StatusOK, "new"}} {
		if key, err := r.secrets.Key("fal")(t.Context()); err != nil || key != step.want {
			t.Errorf("before the answer %d the key is %q, %v; want %q", step.status, key, err, step.want)
		}
		now = now.Add(time.Minute / 2)
		transport.status = step.status
		req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, "https://provider.test", nil)
		if err != nil {
			t.Fatal(err)
		}
		resp, err := r.client().Do(req)
		if err != nil {
			t.Fatal(err)
		}
		_ = resp.Body.Close()
	}
	if n := reads.Load(); n != 2 {
		t.Errorf("the secret was read %d times", n)
	}
}

// Whatever can be configured can be built, and knows its name.
func TestEachProviderIsBuiltUnderItsName(t *testing.T) {
	if got, want := slices.Sorted(maps.Keys(builders)),
		slices.Sorted(slices.Values(provider.RowNames())); !slices.Equal(got, want) {
		t.Errorf("the rows are %v, and the builders are of %v", want, got)
	}
	r := New(Config{Configured: provider.ParseConfigured(strings.Join(slices.Collect(maps.Keys(builders)), ",")),
		AWS: aws.Config{Region: "eu-central-1"}, Now: time.Now})
	for name := range builders {
		if p, err := r.For(name, "live"); err != nil || p.Name() != name || len(p.Capabilities().Kinds) == 0 {
			t.Errorf("%s: %v, %v", name, p, err)
		}
	}
}

func TestFakesAnswerBelowTheirNames(t *testing.T) {
	if at := New(Config{}).at("fal"); at != "" {
		t.Errorf("without fakes the address is %q", at)
	}
	if at := New(Config{Endpoint: "http://127.0.0.1:9"}).at("fal"); at != "http://127.0.0.1:9/fal" {
		t.Errorf("the fake is at %q", at)
	}
}
