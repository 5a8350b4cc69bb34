package platform_test

import (
	"testing"

	"github.com/content-automation/api/infra/verify/harness/platformtest/fixture"
)

// What the platform publishes of its bounds is known: what fits is published.
func TestBoundsOnPinterest(t *testing.T) {
	fixture.Bounds(t, newPinterestFixture, nil, "captions", "titles", "descriptions", "video sizes", "lengths")
}
