package social

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	crms "github.com/content-automation/api/pkg/adapter/crm/registry"
	"github.com/content-automation/api/pkg/adapter/platform"
	"github.com/content-automation/api/pkg/adapter/platform/registry"
	"github.com/content-automation/api/pkg/cloud/secret"
)

// needsSecret maps the platforms and CRMs that need an application to whether the application has a secret.
func needsSecret() map[string]bool {
	all := map[string]bool{}
	for _, p := range registry.Rows() {
		if p.Capabilities.Connect == platform.ConnectOAuth {
			all[p.Name] = !p.Capabilities.PublicApp
		}
	}
	for _, crm := range crms.Names() {
		all[crm] = true
	}
	return all
}

// members are the names of the members of an application, in order.
func members(secret bool) []string {
	if secret {
		return []string{"client_id", "client_secret"}
	}
	return []string{"client_id"}
}

// ExampleApps is a document with a placeholder for each value.
func ExampleApps() string {
	var parts []string
	for _, name := range AppPlatforms() {
		app := `"` + strings.Join(members(needsSecret()[name]), `": "…", "`) + `": "…"`
		parts = append(parts, fmt.Sprintf("%q: {%s}", name, app))
	}
	return "{" + strings.Join(parts, ", ") + "}"
}

// AppPlatforms are the names of the platforms that need an application.
func AppPlatforms() []string { return slices.Sorted(maps.Keys(needsSecret())) }

// errUnreadable has no cause, because an unreadable value may still be a secret.
var errUnreadable = errors.New(
	`the secret is not a JSON object of the form {"<platform>": {"client_id": "…", "client_secret": "…"}}`)

// ParseApps reads the applications from the value of a secret. It leaves out an incomplete one, so that
// one mistake does not disable all platforms.
func ParseApps(value string) (map[string]platform.App, error) {
	var document map[string]json.RawMessage
	if err := json.Unmarshal([]byte(value), &document); err != nil {
		return nil, errUnreadable
	}
	found := map[string]platform.App{}
	for name, secret := range needsSecret() {
		var app platform.App
		if json.Unmarshal(document[name], &app) == nil && app.ID != "" && (app.Secret != "" || !secret) {
			found[name] = app
		}
	}
	return found, nil
}

// CheckApps refuses a value that is not exactly in the expected form. It serves the operator who is
// about to store the value. Its errors show no part of the secrets.
func CheckApps(value string) error {
	var document map[string]map[string]string
	if err := json.Unmarshal([]byte(value), &document); err != nil {
		return errUnreadable
	}
	needs := needsSecret()
	for name, app := range document {
		secret, ok := needs[name]
		want := members(secret)
		if !ok {
			return fmt.Errorf("%q is none of the platforms that need an application: %s", name,
				strings.Join(AppPlatforms(), ", "))
		}
		given := slices.DeleteFunc(slices.Sorted(maps.Keys(app)), func(member string) bool {
			return member == "scopes" || member == "hook_token" || member == "confirmations"
		})
		if !slices.Equal(given, want) {
			return fmt.Errorf("the application of %s has the members %s, and may have scopes, hook_token and "+
				"confirmations", name, strings.Join(want, " and "))
		}
		for member, text := range app {
			if text == "" || text != strings.TrimSpace(text) {
				return fmt.Errorf("the %s of %s is empty, or has white space around it", member, name)
			}
		}
	}
	return nil
}

// Applications reads the applications. It is safe for concurrent use.
type Applications struct {
	cache *secret.Cache[map[string]platform.App]
}

// NewApps returns a store of the secret whose value read returns; see secret.Manager.
func NewApps(read func(context.Context) (string, error), now func() time.Time) *Applications {
	return &Applications{secret.NewCache(read, ParseApps, now)}
}

// Get returns the application for a platform, or the zero value if there is none. An error
// means that the secret could not be read; it is transient.
func (s *Applications) Get(ctx context.Context, name string) (platform.App, error) {
	all, err := s.cache.Get(ctx)
	return all[name], err
}
