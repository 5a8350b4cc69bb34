package content_test

import (
	"strings"
	"testing"
	"time"
)

// A factory may declare generated content in the captions of platforms that have no other way.
func TestTheCaptionTellsWhereNothingElseCan(t *testing.T) {
	for _, wanted := range []bool{true, false} {
		w := newWorld(t)
		w.factory = w.makeFactory(object{"type": "blogger", "name": "Blog", "language": "de", "ai_caption_line": wanted})
		silent, flagged := w.connect("telegram"), w.connect("instagram")
		w.attach(silent, flagged)
		made := w.generated()
		it := w.schedule(made.ID, w.Now().Add(time.Hour))
		for _, p := range it.Previews {
			tells := strings.Contains(string(p.Text), "KI-generiert.")
			if tells != (wanted && p.Platform == "telegram") {
				t.Errorf("wanted %t, on %s: %q", wanted, p.Platform, p.Text)
			}
		}
		if len(it.Previews) != 2 {
			t.Errorf("%d previews", len(it.Previews))
		}
	}
}
