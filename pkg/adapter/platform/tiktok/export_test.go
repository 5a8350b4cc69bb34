package tiktok

import "github.com/content-automation/api/pkg/adapter/platform/wire"

// NewInChunks makes the adapter with chunks of another length.
func NewInChunks(cfg wire.Config, length int64) *Platform {
	p := New(cfg)
	p.chunk = length
	return p
}
