package platform_test

import (
	"testing"

	"github.com/content-automation/api/infra/verify/harness/platformtest/fixture"
)

// What the platform publishes of its bounds is known: what fits is published.
func TestBoundsOnX(t *testing.T) {
	fixture.Bounds(t, newXFixture, nil, "captions", "cashtags", "image bytes", "video sizes", "lengths")
}
