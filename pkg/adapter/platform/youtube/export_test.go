package youtube

import "github.com/content-automation/api/pkg/adapter/platform/wire"

// NewInParts makes the adapter with parts of another size.
func NewInParts(cfg wire.Config, part int64) *Platform {
	p := New(cfg)
	p.part = part
	return p
}
