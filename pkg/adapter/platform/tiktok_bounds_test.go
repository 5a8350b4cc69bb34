package platform_test

import (
	"testing"
	"time"

	"github.com/content-automation/api/infra/verify/harness/platformtest"
	"github.com/content-automation/api/infra/verify/harness/platformtest/fixture"
	"github.com/content-automation/api/pkg/adapter/platform"
	"github.com/content-automation/api/pkg/adapter/platform/tiktok"
	fake "github.com/content-automation/api/testdata/platforms/tiktok"
)

// What the platform publishes of its bounds is known: what fits is published.
func TestBoundsOnTikTok(t *testing.T) {
	yes := true
	choose := func(p *platform.Post) {
		own := tiktok.Options{Comments: &yes, Disclosure: "none", Consent: true}
		own.Privacy, p.Options.Privacy = platform.Public, platform.Public
		if p.Kind == platform.KindVideo || p.Kind == platform.KindMusicClip {
			own.Duet, own.Stitch = &yes, &yes
		}
		p.Options.Own = own
	}
	open := func() *platformtest.Fixture {
		f := newTikTokFixture()
		f.Fake.(*fake.Fake).Longest = 10 * time.Minute
		return f
	}
	fixture.Bounds(t, open, choose, "captions", "titles", "image sizes", "video sizes", "lengths")
}
