package item

import (
	"strings"
	"testing"

	"github.com/content-automation/api/pkg/adapter/provider"
	"github.com/content-automation/api/pkg/generate/catalog"
	"github.com/content-automation/api/pkg/record/resource"
)

// A post costs at most 5, 11 and 26 credits by its quality, wherever the stack is. The quality standard has a second
// look, for all kinds.
func TestAPostCostsAtMostItsPriceInEachRegion(t *testing.T) {
	most := map[string]int64{QualityDraft: 5, QualityStandard: 11, QualityBest: 26}
	for _, region := range []string{"us-east-1", "us-west-2", "eu-central-1", "eu-north-1", "ap-northeast-1",
		"ap-southeast-2"} {
		offer := catalog.NewOffer("bedrock,polly,fal,elevenlabs", region, nil)
		for quality, price := range most {
			r := recordOf(t, Post, "", "en", voiced())
			r.Quality = resource.Text(quality)
			if err := AttemptAt(r).Plan(offer, Options{}, true); err != nil || r.Credits > price {
				t.Errorf("a %s post in %s costs %d, want at most %d: %v", quality, region, r.Credits, price, err)
			}
			t.Logf("%s %s: %d", region, quality, r.Credits)
		}
		for _, c := range []struct {
			kind   Kind
			format string
		}{{Post, ""}, {Story, ""}, {Carousel, ""}, {Video, FormatShort}, {Video, FormatLong}, {MusicClip, ""}} {
			r := recordOf(t, c.kind, c.format, "en", voiced())
			r.Quality = QualityStandard
			if err := AttemptAt(r).Plan(offer, Options{}, true); err != nil {
				t.Errorf("%s in %s: %v", c.kind, region, err)
				continue
			}
			way, credits := texts(r)
			if !strings.Contains(way, "claude-haiku-5.5") || !strings.Contains(way, "review") {
				t.Errorf("a standard %s in %s is written by %q for %d", c.kind, region, way, credits)
			}
		}
	}
}

// A part keeps the place whose price it has, so that the price is the same when it is looked up again.
func TestPartsKeepThePlaceOfTheirPrice(t *testing.T) {
	r := recordOf(t, Post, "", "en", voiced())
	r.Quality = QualityBest
	offer := catalog.NewOffer("bedrock,fal,elevenlabs", "eu-central-1", nil)
	if err := AttemptAt(r).Plan(offer, Options{}, true); err != nil {
		t.Fatal(err)
	}
	for _, p := range r.Parts {
		if p.Kind == provider.KindText && p.PricedIn != "eu" {
			t.Errorf("%s of %s is priced in %q", p.Role, p.Model, p.PricedIn)
		}
	}
	if got := AttemptAt(r).LivePrice(); got != r.Credits {
		t.Errorf("%d credits, and %d when they are looked up", r.Credits, got)
	}
}
