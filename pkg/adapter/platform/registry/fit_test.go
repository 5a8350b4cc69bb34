package registry_test

import (
	"testing"
	"time"

	"github.com/content-automation/api/pkg/adapter/platform"
	"github.com/content-automation/api/pkg/adapter/platform/registry"
	"github.com/content-automation/api/pkg/media/compose/fit"
)

// Finished media are checked against the table of pkg/media/compose/fit, and publications
// against the capabilities: what the first lets through, the second does not refuse.
func TestWhatFitsTheTableFitsTheCapabilities(t *testing.T) {
	if len(registry.Names()) != len(fit.Platforms) {
		t.Errorf("the table has %v", fit.Platforms)
	}
	for _, name := range registry.Names() {
		live, _ := registry.Sandbox(name, time.Now)
		kinds, table := live.Capabilities().Kinds, fit.Table[fit.Platform(name)]
		video := func(what string, v *fit.Video, f *platform.File) {
			switch {
			case (v == nil) != (f == nil):
				t.Errorf("%s: only one of the two takes a %s", name, what)
			case v != nil:
				within(t, name+" "+what, v.MaxBytes, v.MinRatio, v.MaxRatio, *f)
				if v.Min < f.MinTime || f.MaxTime > 0 && v.Max > f.MaxTime {
					t.Errorf("%s: a %s plays from %v to %v, and not from %v to %v", name, what, f.MinTime, f.MaxTime,
						v.Min, v.Max)
				}
			}
		}
		picture := func(what string, p *fit.Picture, f *platform.File) {
			switch {
			case (p == nil) != (f == nil):
				t.Errorf("%s: only one of the two takes a %s", name, what)
			case p != nil:
				within(t, name+" "+what, p.MaxBytes, p.MinRatio, p.MaxRatio, *f)
			}
		}
		video("short video", table.Short, kinds[platform.KindVideo].Video)
		video("long video", table.Long, kinds[platform.KindVideo].Video)
		video("music clip", table.Short, kinds[platform.KindMusicClip].Video)
		video("story clip", table.Story, kinds[platform.KindStory].Video)
		picture("post", table.Image, kinds[platform.KindPost].Image)
		picture("slide", table.Image, kinds[platform.KindCarousel].Image)
		picture("story", table.Card, kinds[platform.KindStory].Image)
	}
}

func within(t *testing.T, what string, bytes int64, least, most float64, f platform.File) {
	t.Helper()
	if f.MaxBytes > 0 && bytes > f.MaxBytes {
		t.Errorf("%s: %d bytes are taken, and the table says %d", what, f.MaxBytes, bytes)
	}
	if least < f.MinRatio || f.MaxRatio > 0 && most > f.MaxRatio {
		t.Errorf("%s: ratios from %.2f to %.2f are taken, and the table says from %.2f to %.2f", what, f.MinRatio,
			f.MaxRatio, least, most)
	}
}
