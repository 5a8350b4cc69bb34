package picture

import (
	"context"
	"encoding/json"
	"image"
	"os"
	"testing"
	"time"
)

func TestTry(t *testing.T) {
	raw, _ := os.ReadFile("/tmp/pictures/gen/right.json")
	var right map[string][][3]int
	json.Unmarshal(raw, &right)
	for name, want := range right {
		b, _ := os.ReadFile("/tmp/pictures/" + name)
		p, err := Open(b)
		if err != nil {
			t.Error(name, err)
			continue
		}
		d, err := p.Decode(context.Background())
		if err != nil {
			t.Error(name, err)
			continue
		}
		at := time.Now()
		img, err := d.Within(context.Background(), image.Pt(1080, 1350))
		if err != nil {
			t.Error(name, err)
			continue
		}
		worst := 0
		for i, w := range want {
			x := (64*i + 32) * img.Rect.Dx() / p.Width
			c := img.NRGBAAt(x, img.Rect.Dy()/2)
			for j, g := range []int{int(c.R), int(c.G), int(c.B)} {
				worst = max(worst, g-w[j], w[j]-g)
			}
			if worst > 3 {
				t.Errorf("%s %d: %v %v", name, i, c, w)
			}
		}
		t.Logf("%s worst %d %v %v", name, worst, time.Since(at), d.colors)
	}
}
