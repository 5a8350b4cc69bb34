package platform_test

import (
	"testing"

	"github.com/content-automation/api/infra/verify/harness/platformtest/fixture"
)

// What the platform publishes of its bounds is known: what fits is published.
func TestBoundsOnVK(t *testing.T) {
	fixture.Bounds(t, newVKFixture, nil, "captions", "titles", "image sizes")
}
