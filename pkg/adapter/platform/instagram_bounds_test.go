package platform_test

import (
	"testing"

	"github.com/content-automation/api/infra/verify/harness/platformtest/fixture"
)

// What the platform publishes of its bounds is known: what fits is published.
func TestBoundsOnInstagram(t *testing.T) {
	fixture.Bounds(t, newInstagramFixture, nil, "captions", "comments", "mentions", "hashtags", "image sizes", "image bytes", "video sizes", "lengths")
}
