// Package registry lists the platforms, and makes their adapters.
package registry

import (
	"slices"
	"time"

	"github.com/content-automation/api/pkg/adapter/platform"
	"github.com/content-automation/api/pkg/adapter/platform/instagram"
	"github.com/content-automation/api/pkg/adapter/platform/rutube"
	"github.com/content-automation/api/pkg/adapter/platform/sandbox"
	"github.com/content-automation/api/pkg/adapter/platform/telegram"
	"github.com/content-automation/api/pkg/adapter/platform/tiktok"
	"github.com/content-automation/api/pkg/adapter/platform/vk"
	"github.com/content-automation/api/pkg/adapter/platform/wire"
	"github.com/content-automation/api/pkg/adapter/platform/youtube"
)

// platforms are all platforms, in the order in which they are listed.
var platforms = []struct {
	name string
	make func(wire.Config) platform.Adapter
}{
	{instagram.Name, func(cfg wire.Config) platform.Adapter { return instagram.New(cfg) }},
	{tiktok.Name, func(cfg wire.Config) platform.Adapter { return tiktok.New(cfg) }},
	{youtube.Name, func(cfg wire.Config) platform.Adapter { return youtube.New(cfg) }},
	{telegram.Name, func(cfg wire.Config) platform.Adapter { return telegram.New(cfg) }},
	{vk.Name, func(cfg wire.Config) platform.Adapter { return vk.New(cfg) }},
	{rutube.Name, func(cfg wire.Config) platform.Adapter { return rutube.New(cfg) }},
}

// Names returns the ids of the platforms.
func Names() []string {
	names := make([]string, len(platforms))
	for i, p := range platforms {
		names[i] = p.name
	}
	return names
}

// Live returns the adapter of a platform, and whether there is one.
func Live(name string, cfg wire.Config) (platform.Adapter, bool) {
	i := slices.Index(Names(), name)
	if i < 0 {
		return nil, false
	}
	return platforms[i].make(cfg), true
}

// Sandbox returns the adapter that stands for a platform with test keys, with the
// limits of the platform itself.
func Sandbox(name string, now func() time.Time) (platform.Adapter, bool) {
	live, ok := Live(name, wire.Config{Now: now})
	if !ok {
		return nil, false
	}
	return sandbox.New(name, live.Capabilities(), now), true
}
