package registry_test

import (
	"slices"
	"testing"
	"time"

	"github.com/content-automation/api/pkg/adapter/platform/registry"
	"github.com/content-automation/api/pkg/adapter/platform/wire"
)

func TestThereAreExactlySixPlatforms(t *testing.T) {
	want := []string{"instagram", "tiktok", "youtube", "telegram", "vk", "rutube"}
	if got := registry.Names(); !slices.Equal(got, want) {
		t.Errorf("the platforms are %v, want %v", got, want)
	}
	for _, name := range want {
		live, ok := registry.Live(name, wire.Config{})
		if !ok || live.Name() != name {
			t.Errorf("%s: got %v, %v", name, live, ok)
			continue
		}
		sandbox, ok := registry.Sandbox(name, time.Now)
		if !ok || sandbox.Name() != name || len(sandbox.Capabilities().Kinds) != len(live.Capabilities().Kinds) {
			t.Errorf("%s: its sandbox has the name %q and other capabilities", name, sandbox.Name())
		}
	}
	if _, ok := registry.Live("myspace", wire.Config{}); ok {
		t.Error("there is an adapter for myspace")
	}
	if _, ok := registry.Sandbox("myspace", time.Now); ok {
		t.Error("there is a sandbox for myspace")
	}
}
