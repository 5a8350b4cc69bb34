package platform_test

import (
	"slices"
	"testing"
	"time"

	"github.com/content-automation/api/pkg/adapter/platform"
	"github.com/content-automation/api/pkg/adapter/platform/registry"
	"github.com/content-automation/api/pkg/adapter/platform/wire"
)

// The options of a platform's shape are those that it lists, and a cover, which is no member.
func TestShapesHaveTheOptionsOfTheirPlatforms(t *testing.T) {
	numbers := map[int]string{}
	for _, r := range registry.Rows() {
		if r.Number < 1 || r.Number > 99 || numbers[r.Number] != "" {
			t.Errorf("%s has the number %d", r.Name, r.Number)
		}
		numbers[r.Number] = r.Name
		shape := r.Capabilities.ShapeOptions()
		for _, o := range r.Capabilities.Options {
			if o != platform.OptionCover && !slices.Contains(shape, o) {
				t.Errorf("%s lists %s, which its shape does not have", r.Name, o)
			}
		}
		for _, o := range shape {
			if o != platform.OptionPrivacy && !slices.Contains(r.Capabilities.Options, o) {
				t.Errorf("the shape of %s has %s, which it does not list", r.Name, o)
			}
		}
	}
}

// What a platform does with comments is what its adapter implements.
func TestAdaptersDoWhatTheyDeclareOfComments(t *testing.T) {
	for _, r := range registry.Rows() {
		adapter := r.New(wire.Config{})
		c := r.Capabilities.Comments
		_, reads := adapter.(platform.CommentReader)
		_, replies := adapter.(platform.Replier)
		_, hides := adapter.(platform.CommentHider)
		_, deletes := adapter.(platform.CommentDeleter)
		_, announces := adapter.(platform.Announcer)
		if announces != slices.Contains([]string{"instagram", "facebook", "vk"}, r.Name) {
			t.Errorf("%s announces comments: %t", r.Name, announces)
		}
		if reads != c.Reads || replies != c.Replies || hides != c.Hides || deletes != c.Deletes ||
			replies != (c.Text.Max > 0) {
			t.Errorf("%s declares %+v, and implements %t, %t, %t, %t", r.Name, c, reads, replies, hides, deletes)
		}
	}
}

// Six platforms are always there. Customers may have others.
func TestThePlatforms(t *testing.T) {
	six := []string{"instagram", "tiktok", "youtube", "telegram", "vk", "rutube"}
	if got := registry.With(nil); !slices.Equal(got, six) {
		t.Errorf("the platforms are %v, want %v", got, six)
	}
	if got := registry.With([]string{"bluesky", "vk", "myspace"}); !slices.Equal(got, append(six, "bluesky")) {
		t.Errorf("the platforms with bluesky are %v", got)
	}
	all := registry.Names()
	if !slices.Equal(all[:len(six)], six) {
		t.Errorf("the list of platforms begins with %v, want %v", all[:len(six)], six)
	}
	for _, name := range all {
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
