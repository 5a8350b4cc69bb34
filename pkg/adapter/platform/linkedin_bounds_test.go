package platform_test

import (
	"testing"

	"github.com/content-automation/api/infra/verify/harness/platformtest/fixture"
	fake "github.com/content-automation/api/testdata/platforms/linkedin"
)

// What the platform publishes of its bounds is known: what fits is published.
func TestBoundsOnLinkedIn(t *testing.T) {
	fixture.Bounds(t, fixtureOf(fake.Member), nil, "captions", "comments", "image sizes", "video sizes", "lengths")
}
