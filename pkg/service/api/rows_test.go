package api

import (
	"slices"
	"testing"

	"github.com/content-automation/api/pkg/adapter/platform"
	"github.com/content-automation/api/pkg/adapter/platform/registry"
	"github.com/content-automation/api/pkg/adapter/platform/vk"
	"github.com/content-automation/api/pkg/adapter/platform/wire"
	"github.com/content-automation/api/pkg/adapter/provider"
	credentials "github.com/content-automation/api/pkg/adapter/provider/registry"
	"github.com/content-automation/api/pkg/area/social"
	"github.com/content-automation/api/pkg/httpapi"
)

// shape is that of the options of a platform that there is not.
type shape struct {
	platform.Visible
	// Notifies everyone.
	Loud bool `json:"loud,omitempty"`
}

// A row is all that the document, the applications and the credentials need of a platform
// and a provider.
func TestWhatFollowsFromARow(t *testing.T) {
	adapter := func(cfg wire.Config) platform.Adapter { return vk.New(cfg) }
	t.Cleanup(registry.Add(registry.Row{Name: "myspace", Number: 99, New: adapter, Capabilities: platform.Capabilities{
		Label: "MySpace", Connect: platform.ConnectOAuth, Shape: shape{}, Privacies: []platform.Privacy{platform.Public,
			platform.Friends},
	}}))
	t.Cleanup(provider.AddRow(provider.Row{Name: "elsewhere", Operator: "Elsewhere, Inc.", Credential: "token"}))
	doc := DocumentOf(httpapi.EmbeddedTexts())
	schemas := doc.Components.Schemas.Map()
	for name, value := range map[string]string{"Platform": "myspace", "PlatformInput": "myspace",
		"Provider": "elsewhere"} {
		open, _ := schemas[name].Extensions[ExtensibleEnum].([]any)
		if !slices.Contains(slices.Concat(schemas[name].Enum, open), any(value)) {
			t.Errorf("%s has %v and %v", name, schemas[name].Enum, open)
		}
	}
	for at, member := range map[string]string{"AnalyticsRow": "platform", "Publication": "platform",
		"SocialAccount": "platform", "SocialPlatform": "id"} {
		s := schemas[at].Properties[member]
		if len(s.AnyOf) > 0 {
			s = s.AnyOf[0]
		}
		if s.Ref != "#/components/schemas/Platform" {
			t.Errorf("%s of %s is %+v", member, at, s)
		}
	}
	if values := schemas["OauthAccountConnectPlatform"].Enum; !slices.Contains(values, any("myspace")) {
		t.Errorf("its accounts are not connected: %v", values)
	}
	options := schemas["MyspaceOptions"]
	if options == nil || options.Properties["loud"] == nil || options.Properties["silent"] != nil ||
		schemas["PlatformOptions"].Properties["myspace"].Ref != "#/components/schemas/MyspaceOptions" {
		t.Errorf("the options are %+v", options)
	}
	if schemas["PublishOptions"].Properties["loud"] == nil {
		t.Error("publications do not show the option")
	}
	if !slices.Contains(social.AppPlatforms(), "myspace") ||
		social.CheckApps(`{"myspace": {"client_id": "a", "client_secret": "b"}}`) != nil {
		t.Error("the operator cannot register an application")
	}
	if !slices.Contains(credentials.CredentialProviders(), "elsewhere") ||
		credentials.CheckCredentials(`{"elsewhere": {"token": "a"}}`) != nil {
		t.Error("the operator cannot store a credential")
	}
}
