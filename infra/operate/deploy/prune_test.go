package main

import (
	"context"
	"errors"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"

	"github.com/content-automation/api/pkg/cloud/topology"
)

// Lambda answers ResourceNotFoundException for the alias of a function that has none.
func TestOldVersionsGoAfterADeployment(t *testing.T) {
	o, err := read([]string{"-customer", "acme"})
	if err != nil {
		t.Fatal(err)
	}
	for name, without := range map[string][]string{"": {"acme-prod-rotate-seal"},
		"a failure": {"acme-prod-rotate-seal", "acme-prod-content"}} {
		pruned := map[string]int{}
		err = pruneAll(t.Context(), o, func(_ context.Context, function string, keep int) ([]string, error) {
			if slices.Contains(without, function) {
				return nil, errors.New("ResourceNotFoundException")
			}
			pruned[function] = keep
			return nil, nil
		})
		if (err != nil) != (name != "") || len(pruned) != len(topology.Functions)-len(without) ||
			pruned["acme-prod-factory"] != keptVersions {
			t.Errorf("%s: pruned %v, %v", name, pruned, err)
		}
	}
}

// A role that may not delete versions, as one that was made before, ends no deployment.
func TestADeploymentOutlivesWhatItMayNotPrune(t *testing.T) {
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("X-Amzn-ErrorType", "AccessDeniedException")
		w.WriteHeader(http.StatusForbidden)
	}))
	t.Cleanup(server.Close)
	for name, value := range map[string]string{"AWS_ENDPOINT_URL": server.URL, "AWS_ACCESS_KEY_ID": "a",
		"AWS_SECRET_ACCESS_KEY": "b", "NO_PROXY": "127.0.0.1", "AWS_MAX_ATTEMPTS": "1"} {
		t.Setenv(name, value)
	}
	o, err := read([]string{"-customer", "acme"})
	if err != nil {
		t.Fatal(err)
	}
	var out strings.Builder
	pruneVersions(t.Context(), o, &out)
	if !strings.Contains(out.String(), "AccessDenied") || !strings.Contains(out.String(), "admin release prune") {
		t.Errorf("it says %q", out.String())
	}
}
