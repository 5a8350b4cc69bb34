package main

import (
	"fmt"
	"math"
	"strings"
	"testing"

	"github.com/content-automation/api/pkg/media"
)

func TestWhatMediaCostThatStay(t *testing.T) {
	u := usage{}
	u.stores(media.Image)
	m := measured{}
	for _, name := range []string{"image", "post", "short video"} {
		m.generations = append(m.generations, counted{scenario: scenario{name: name}, whole: u})
	}
	// A thousand GB and half a million files more each month, a tenth of which are posted to five platforms.
	p := profile{images: 450_000, posts: 50_000, platforms: 5}
	month := 500_000 * float64(sizes[media.Image]) / gigabyte
	virginia := func(t tier) float64 { return t.virginia }
	for months, want := range map[int]float64{
		0: 0,
		1: month * 0.023,
		2: month*2*0.023 + 500_000*watching,
		// Two months each at the first two prices, and eight at the last.
		12: month*(2*0.023+2*0.0125+8*0.004) + 11*500_000*watching,
	} {
		if got := p.storage(m, months, virginia); math.Abs(got-want) > 0.001 {
			t.Errorf("after %d months %v, want %v", months, got, want)
		}
	}
	if got, want := p.sent(), 5*50_000*float64(sizes[media.Image])/gigabyte; math.Abs(got-want) > 0.001 {
		t.Errorf("%v GB to platforms, want %v", got, want)
	}
	text := growthTable(counts(t))
	for _, p := range profiles[1:] {
		if !strings.Contains(text, fmt.Sprintf(" %.2f ", p.sent()*egress)) {
			t.Errorf("the traffic of %s is not in\n%s", p.name, text)
		}
	}
}
