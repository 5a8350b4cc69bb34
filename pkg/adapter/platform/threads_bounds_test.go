package platform_test

import (
	"testing"

	"github.com/content-automation/api/infra/verify/harness/platformtest/fixture"
)

// What the platform publishes of its bounds is known: what fits is published.
func TestBoundsOnThreads(t *testing.T) {
	fixture.Bounds(t, newThreadsFixture, nil, "captions", "links", "image sizes", "image bytes", "video sizes", "lengths")
}
