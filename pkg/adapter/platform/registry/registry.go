// Package registry lists the platforms, and makes their adapters. Rows lists the adapters; Sandbox returns their
// substitutes for test keys.
package registry

import (
	"slices"
	"time"

	"github.com/content-automation/api/pkg/adapter/platform"
	"github.com/content-automation/api/pkg/adapter/platform/bluesky"
	"github.com/content-automation/api/pkg/adapter/platform/facebook"
	"github.com/content-automation/api/pkg/adapter/platform/instagram"
	"github.com/content-automation/api/pkg/adapter/platform/linkedin"
	"github.com/content-automation/api/pkg/adapter/platform/pinterest"
	"github.com/content-automation/api/pkg/adapter/platform/rutube"
	"github.com/content-automation/api/pkg/adapter/platform/telegram"
	"github.com/content-automation/api/pkg/adapter/platform/threads"
	"github.com/content-automation/api/pkg/adapter/platform/tiktok"
	"github.com/content-automation/api/pkg/adapter/platform/vk"
	"github.com/content-automation/api/pkg/adapter/platform/wire"
	"github.com/content-automation/api/pkg/adapter/platform/x"
	"github.com/content-automation/api/pkg/adapter/platform/youtube"
	"github.com/content-automation/api/pkg/base/format"
)

var _ = format.Define("platform", format.Format{Values: Names()})

// Row is a platform: all facts about it that the service needs, and its adapter. The rows determine the enumerations of
// the API, the options of publications, the sums of analytics and the applications of the operator.
type Row struct {
	Name string
	// Number names the platform in stored sums of analytics. It is from 1 to 99, and is never changed or reused.
	Number int
	// Optional reports whether only customers have the platform whose settings name it. The others are always there.
	Optional bool
	New      func(wire.Config) platform.Adapter
	// Capabilities has the limits and options of the platform, and its way to connect accounts.
	Capabilities platform.Capabilities
}

// rows has all platforms in the order in which they are listed.
var rows = []Row{
	row(instagram.Name, 1, instagram.New),
	row(tiktok.Name, 2, tiktok.New),
	row(youtube.Name, 3, youtube.New),
	row(telegram.Name, 4, telegram.New),
	row(vk.Name, 5, vk.New),
	row(rutube.Name, 6, rutube.New),
	optional(row(facebook.Name, 8, facebook.New)),
	optional(row(linkedin.Name, 10, linkedin.New)),
	optional(row(threads.Name, 9, threads.New)),
	optional(row(bluesky.Name, 7, bluesky.New)),
	optional(row(pinterest.Name, 11, pinterest.New)),
	optional(row(x.Name, 12, x.New)),
}

func optional(r Row) Row {
	r.Optional = true
	return r
}

func row[A platform.Adapter](name string, number int, make func(wire.Config) A) Row {
	return Row{
		Name: name, Number: number, New: func(cfg wire.Config) platform.Adapter { return make(cfg) },
		Capabilities: make(wire.Config{}).Capabilities(),
	}
}

// Rows returns the platforms, in the order in which they are listed.
func Rows() []Row { return rows }

// Add adds a platform, and returns a function that removes it again. Tests use it to check
// everything that depends on the rows.
func Add(r Row) (remove func()) {
	before := rows
	rows = append(slices.Clone(rows), r)
	return func() { rows = before }
}

// Find returns the platform of a name, and reports whether it exists.
func Find(name string) (Row, bool) {
	i := slices.IndexFunc(rows, func(r Row) bool { return r.Name == name })
	if i < 0 {
		return Row{}, false
	}
	return rows[i], true
}

// Names returns the ids of the platforms.
func Names() []string {
	names := make([]string, len(rows))
	for i, r := range rows {
		names[i] = r.Name
	}
	return names
}

// With returns the ids of the platforms that are always there, and of the given others.
func With(others []string) []string {
	var names []string
	for _, r := range rows {
		if !r.Optional || slices.Contains(others, r.Name) {
			names = append(names, r.Name)
		}
	}
	return names
}

// Live returns the adapter of a platform, and reports whether the platform exists.
func Live(name string, cfg wire.Config) (platform.Adapter, bool) {
	r, ok := Find(name)
	if !ok {
		return nil, false
	}
	return r.New(cfg), true
}

// Sandbox returns the adapter that stands for a platform with test keys and has the limits of that
// platform. It reports whether the platform exists.
func Sandbox(name string, now func() time.Time) (platform.Adapter, bool) {
	r, ok := Find(name)
	if !ok {
		return nil, false
	}
	return NewSandbox(name, r.Capabilities, now), true
}
