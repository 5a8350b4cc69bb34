package facebook

import (
	"time"

	"github.com/content-automation/api/pkg/adapter/platform"
	"github.com/content-automation/api/pkg/adapter/platform/graph"
)

var _ platform.Forgetter = (*Platform)(nil)

// Removed implements platform.Remover.
func (*Platform) Removed(app platform.App, h platform.Hook, now time.Time) (platform.Removal, error) {
	return graph.Removed(app, h, now)
}

// Forgotten implements platform.Forgetter.
func (*Platform) Forgotten(app platform.App, h platform.Hook, now time.Time) (platform.Removal, error) {
	return graph.Removed(app, h, now)
}
