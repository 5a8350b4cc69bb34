package adapter_test

import (
	"strings"
	"testing"

	"github.com/content-automation/api/pkg/adapter/provider"
)

func TestTheProfileOfBedrockIsThatOfTheRegion(t *testing.T) {
	options := map[string]string{provider.ProfilesOption: "us, eu,global"}
	for region, want := range map[string]string{
		"us-east-1": "us", "us-west-2": "us", "eu-central-1": "eu", "ap-southeast-2": "global", "sa-east-1": "global",
	} {
		if got := provider.ProfileIn(region, options, true); got != want {
			t.Errorf("%s: %q, want %q", region, got, want)
		}
		// Without permission, no call leaves the geography.
		if got := provider.ProfileIn(region, options, false); got != strings.TrimPrefix(want, "global") {
			t.Errorf("%s, not everywhere: %q", region, got)
		}
	}
	for region, want := range map[string]string{"ap-south-1": "apac", "sa-east-1": "", "": ""} {
		if got := provider.ProfileIn(region, map[string]string{provider.ProfilesOption: "us,apac"}, true); got != want {
			t.Errorf("%s: %q, want %q", region, got, want)
		}
	}
	for region, want := range map[string]string{"ap-northeast-1": "jp", "ap-northeast-3": "jp", "ap-southeast-2": "au",
		"ap-south-1": "apac"} {
		options := map[string]string{provider.ProfilesOption: "us,eu,apac,jp,au,global"}
		if got := provider.ProfileIn(region, options, true); got != want {
			t.Errorf("%s: %q, want %q", region, got, want)
		}
	}
	if got := provider.ProfileIn("us-east-1", nil, true); got != "" {
		t.Errorf("without profiles: %q", got)
	}
	for profile, want := range map[string]string{"us": "us-*", "eu": "eu-*", "apac": "ap-*", "global": ",*",
		"jp": "ap-northeast-1,ap-northeast-3", "au": "ap-southeast-2,ap-southeast-4"} {
		if got := strings.Join(provider.RegionsOf(profile), ","); got != want {
			t.Errorf("the profile %s leads to %q, want %q", profile, got, want)
		}
	}
}
