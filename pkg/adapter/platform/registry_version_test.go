package platform_test

import (
	"slices"
	"testing"
	"time"

	"github.com/content-automation/api/pkg/adapter/platform"
	"github.com/content-automation/api/pkg/adapter/platform/registry"
)

// TestNoVersionOfAPlatformEndsSoon fails 90 days before a platform ends the version that its adapter names, so that
// there is time to read what has changed.
func TestNoVersionOfAPlatformEndsSoon(t *testing.T) {
	const notice = 90 * 24 * time.Hour
	for name, v := range platform.Versions {
		if v.Name == "" || v.Source == "" {
			t.Errorf("%s: %+v lacks a member", name, v)
		}
		if v.EndsOn == "" {
			continue
		}
		end, err := time.Parse(time.DateOnly, v.EndsOn)
		if err != nil {
			t.Errorf("%s: %v", name, err)
		} else if left := time.Until(end); left < notice {
			t.Errorf("%s ends version %s on %s, in %d days. Set a newer one in platform.Versions; see %s", name, v.Name,
				v.EndsOn, int(left.Hours()/24), v.Source)
		}
	}
}

// TestEachPlatformTellsHowItLearnsOfAI holds the table of declarations: a flag is an option of posts, and a platform
// without a flag and without a reader needs a line of text.
func TestEachPlatformTellsHowItLearnsOfAI(t *testing.T) {
	silent := map[string]bool{"bluesky": true, "rutube": true, "telegram": true, "vk": true}
	for _, r := range registry.Rows() {
		name, c := r.Name, r.Capabilities
		if flag := slices.Contains(c.Options, platform.OptionGenerated); flag != c.Origin.Flag {
			t.Errorf("%s: the option is_aigc is %t, the flag %t", name, flag, c.Origin.Flag)
		}
		if silent[name] && !c.Origin.Silent() || c.Origin.Silent() != (c.Origin.Source == "") {
			t.Errorf("%s: %+v", name, c.Origin)
		}
	}
}
